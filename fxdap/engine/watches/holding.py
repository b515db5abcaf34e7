"""How long values are held until they are looked at, where they are not kept anyway.

Large values that wait make the next ones take fresh memory, which costs more than computing them;
so a stretch is looked at in parts, each of a few large values.
"""

from __future__ import annotations

import torch

from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED
from fxdap.engine.watches.leaves import storage_key, tensors
from fxdap.view.quiet import quiet

HELD = 1 << 21
"""Bytes that may wait."""


class Holding:
    """Learned from one program's runs: where to look in between, and what to let go of."""

    def __init__(self) -> None:
        self.places: frozenset[int] = frozenset()
        self._met: set[tuple[int, int]] = set()
        self._dead: dict[tuple[int, int], list[int]] = {}

    def learn(self, frame: Frame, start: int, stop: int) -> bool:
        """Find out what a stretch holds the first time; whether there are new places."""
        if (start, stop) in self._met or stop - start == 1:
            return False
        self._met.add((start, stop))
        with quiet():
            found = self._places(frame, start, stop)
        before, self.places = self.places, self.places | found
        return self.places != before

    def _places(self, frame: Frame, start: int, stop: int) -> set[int]:
        found: set[int] = set()
        held, seen = 0, set()
        for index in range(start, stop):
            if frame.program.steps[index].op in ("placeholder", "get_attr"):
                continue
            for tensor in tensors(frame.registers[index]):
                key = storage_key(tensor)
                if key is not None and key not in seen:
                    seen.add(key)
                    held += _bytes(tensor)
            if held > HELD:
                found.add(index + 1)
                held = 0
        return found

    def release(self, frame: Frame, start: int, stop: int) -> None:
        """Let go of the values that nothing reads after node `stop - 1`."""
        dead = self._dead.get((start, stop))
        if dead is None:
            uses = frame.program.last_uses[start:stop]
            dead = self._dead[start, stop] = [index for each in uses for index in each]
        registers = frame.registers
        for index in dead:
            registers[index] = RELEASED


def _bytes(tensor: torch.Tensor) -> int:
    try:
        return tensor.nbytes
    except (RuntimeError, NotImplementedError):
        return 0
