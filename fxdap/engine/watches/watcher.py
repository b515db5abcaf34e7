"""The watches over one run: look at what has run, and stop at the first node that shows something.

Nodes that may run twice without a trace are looked at many at once, after they ran. If one of
them shows something, the run is taken back to it: what came after it is forgotten and runs again
from there. Before every other node, everything up to it is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED
from fxdap.engine.stops import Stop
from fxdap.engine.watches.finite import FiniteWatch, Spread
from fxdap.engine.watches.found import EXCEPTIONS, TITLES, Finding
from fxdap.engine.watches.leaves import tensors, version
from fxdap.engine.watches.recorded import Bindings, MetaWatch
from fxdap.engine.watches.rerun import OneTimeNodes

HELD_LIMIT = 64 << 20
"""Bytes that values may take while they wait to be looked at, when they are not kept anyway."""


@dataclass
class ProgramWatch:
    """What is watched in one program; outlives its runs, since it learns from them."""

    finite: FiniteWatch | None
    meta: MetaWatch | None
    one_time: OneTimeNodes

    def holds_much(self, start: int) -> bool:
        """Whether the values of the stretch from `start` take much memory."""
        return self.finite is not None and self.finite.held.get(start, 0) > HELD_LIMIT

    def __bool__(self) -> bool:
        return self.finite is not None or self.meta is not None


class Watcher:
    """One run's state: how far was looked, and what was found so far. Used by its thread only."""

    def __init__(self, watch: ProgramWatch, start: int) -> None:
        self.watch = watch
        self.done = start
        self._spread: Spread = {}
        self._bindings = Bindings()
        self._wrong: set[int] = set()
        self._versions: list[tuple[int, list[tuple[torch.Tensor, int | None]]]] = []

    def check(self, frame: Frame, stop: int, *, keep: bool) -> int:
        """Look at the nodes that ran since the last call, up to `stop`; where to go on from."""
        start, self.done = self.done, stop
        if start >= stop or frame.thread.evaluating:
            return stop
        found = self._earliest(frame, start, stop)
        end = found[0].index + 1 if found else stop
        if not keep:
            for index in range(start, end):
                frame.release_dead(index)
        if found:
            self._take_back(frame, end, stop)
            self.done = end
            frame.thread.found(frame, end - 1, _stop(found))
        self._expect(frame, end)
        return end

    def inner_found(self, index: int, kinds: set[str]) -> None:
        """A graph that node `index` runs has shown something: the node's own value is no news."""
        self._spread.setdefault(index, set()).update(kinds)

    def _earliest(self, frame: Frame, start: int, stop: int) -> list[Finding]:
        found: list[Finding] = []
        if self.watch.finite is not None:
            written = self._written() if start in self.watch.one_time.indices else ()
            found += self.watch.finite.first(frame, start, stop, written, self._spread)
        if self.watch.meta is not None:
            end = found[0].index + 1 if found else stop
            wrong = self.watch.meta.first(frame, start, end, self._bindings, self._wrong)
            if wrong is not None:
                found = [f for f in found if f.index == wrong.index] + [wrong]
        return found

    def _take_back(self, frame: Frame, end: int, stop: int) -> None:
        steps, registers = frame.program.steps, frame.registers
        for index in range(end, stop):
            if steps[index].op != "placeholder":
                registers[index] = RELEASED

    def _expect(self, frame: Frame, index: int) -> None:
        """Note the state of a node's arguments before it may write to them."""
        self._versions = []
        if index not in self.watch.one_time.indices:
            return
        program = frame.program
        for source in program.nodes[index].all_input_nodes:
            place = program.index[source]
            versions = [(t, version(t)) for t in tensors(frame.registers[place])]
            self._versions.append((place, versions))

    def _written(self) -> list[int]:
        """The arguments that have been written to since `_expect`."""
        return [
            place
            for place, versions in self._versions
            if any(before is None or version(t) != before for t, before in versions)
        ]


def _stop(found: list[Finding]) -> Stop:
    first = found[0]
    text = "\n".join(finding.text for finding in found)
    return Stop(
        reason="exception",
        text=text,
        title=TITLES[first.filter],
        exception=EXCEPTIONS[first.filter](text),
    )


