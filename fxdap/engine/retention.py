"""How long node values live: all of them within a memory budget, the oldest go first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED, Program, SegmentSize

DEFAULT_SHARE = 0.25
"""Part of the free memory that kept values may take unless `memoryBudget` says otherwise."""


_TINY = 1000
"""How often what a tiny graph makes would fit, so that larger inputs make no difference."""


def free_memory() -> int:
    """Bytes of host memory free now; a modest guess where the system does not tell."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 4 << 30


def free_device_memory(device: torch.device) -> int | None:
    """Bytes free on an accelerator, those that torch holds in reserve included.

    None for one whose memory is the host's, or that does not tell.
    """
    module: Any = getattr(torch, device.type, None)
    try:
        reserve = module.memory_reserved(device) - module.memory_allocated(device)
        return int(module.mem_get_info(device)[0] + reserve)
    except (AttributeError, RuntimeError):
        return None


class Retention:
    """Counts the bytes of each frame's values and lets the oldest go over the budget.

    Counting every value would cost a tenth of a small graph's time, so it is an estimate: the
    values of a segment are counted once, and later runs scale that by the segment's largest
    value. Views count twice. Only when the estimate passes the budget are storages counted.

    Each device has a budget of its own, as large a part of its memory. All are counted as one: a
    byte on a device counts as many of the host's as its budget is smaller. Where values are on
    both, less than the budgets together is kept, never more than either.
    """

    def __init__(self, limit: Callable[[int], int] | None = None) -> None:
        """`limit` says how many bytes may be taken of a memory with so many free."""
        self._limit = limit or (lambda free: int(free * DEFAULT_SHARE))
        self._fixed: int | None = None
        self._weights: dict[torch.device, float] = {torch.device("meta"): 0.0}
        self._recordings: int | None = None

    def budget(self) -> int:
        """Bytes that the values of one frame may take."""
        if self._fixed is not None:
            return self._fixed
        self._fixed = self._limit(free_memory())
        return self._fixed

    def recordings_limit(self, *, keep: bool) -> int:
        """Bytes that the recordings of one run may take: half of what its values may.

        Where no values are kept there is no budget for them; recordings have their own then.
        """
        if keep:
            return self.budget() // 2
        if self._recordings is None:
            self._recordings = int(free_memory() * DEFAULT_SHARE) // 2
        return self._recordings

    def fits(self, frame: Frame) -> bool:
        """Whether a run need not be counted: the last one had like inputs, and came to little."""
        last, budget = frame.program.last_run, self._fixed
        if last is None or budget is None or 2 * last[1] > budget:
            return False
        return _TINY * last[1] <= budget or self._of_inputs(frame) == last[0]

    def is_tiny(self, program: Program) -> bool:
        """Whether the last run came to so little that runs need not be counted at all."""
        last = program.last_run
        return last is not None and _TINY * last[1] <= self.budget()

    def _of_inputs(self, frame: Frame) -> int:
        return sum(map(self._bytes, frame.inputs()))

    def ran(self, frame: Frame) -> None:
        """A run that was counted has ended."""
        frame.program.last_run = self._of_inputs(frame), frame.kept_bytes

    def has_room(self, frame: Frame, start: int, stop: int) -> bool:
        """Whether what nodes `start` to `stop` make will fit, as far as earlier runs tell."""
        sizes = frame.program.segment_sizes
        known = sizes.get((start, stop))
        if known is not None:
            return frame.kept_bytes + known.total <= self._room(frame)
        within = (size.total for (first, _), size in sizes.items() if start <= first < stop)
        return frame.kept_bytes + sum(within) <= self._room(frame)

    def account(self, frame: Frame, start: int, stop: int) -> None:
        """Count what nodes `start` to `stop` made; release old values if it is too much."""
        sizes = frame.program.segment_sizes
        known = sizes.get((start, stop))
        if known is None:
            known = sizes[start, stop] = self._measure(frame, start, stop)
        frame.kept_bytes += self._scaled(frame, known)
        room = self._room(frame)
        if frame.kept_bytes > room:
            frame.kept_bytes = self._release(frame, stop, room)

    def _room(self, frame: Frame) -> int:
        """What recordings leave for values."""
        recorded = frame.history.nbytes if frame.history is not None else 0
        return self.budget() - recorded

    def _measure(self, frame: Frame, start: int, stop: int) -> SegmentSize:
        sizes = [
            0 if _is_callers(frame, i) else self._bytes(frame.registers[i])
            for i in range(start, stop)
        ]
        largest = max(range(len(sizes)), key=sizes.__getitem__)
        return SegmentSize(start + largest, sizes[largest], sum(sizes))

    def _scaled(self, frame: Frame, size: SegmentSize) -> int:
        now = self._bytes(frame.registers[size.largest])
        return size.total if now == size.bytes or not size.bytes else size.total * now // size.bytes

    def _bytes(self, value: Any) -> int:
        return sum(self._cost(tensor.nbytes, tensor.device) for tensor in _tensors(value))

    def _storages(self, value: Any) -> dict[int, int]:
        """The storages a value holds on to, with what they count."""
        found: dict[int, int] = {}
        for tensor in _tensors(value):
            try:
                storage = tensor.untyped_storage()
                found[int(storage._cdata)] = self._cost(storage.nbytes(), storage.device)
            except RuntimeError:
                continue
        return found

    def _cost(self, size: int, device: torch.device) -> int:
        if device.type == "cpu":
            return size
        weight = self._weights.get(device)
        if weight is None:
            weight = self._weights[device] = self._weight(device)
        return int(size * weight)

    def _weight(self, device: torch.device) -> float:
        free = free_device_memory(device)
        limit = self._limit(free) if free is not None else self.budget()
        return self.budget() / limit if limit and self.budget() else 1.0

    def _release(self, frame: Frame, stop: int, budget: int) -> int:
        """Let go of the oldest values that no later node reads until the rest fits; give its size.

        A value is let go only if that frees memory in the end: not what shares the storage of an
        input, a parameter or a value that is still needed.
        """
        storages = [self._storages(value) for value in frame.registers[:stop]]
        callers = {key for i in range(stop) if _is_callers(frame, i) for key in storages[i]}
        needed = _needed_after(frame, stop)
        pinned = callers.union(*(storages[i] for i in needed))
        holders: dict[int, set[int]] = {}
        sizes: dict[int, int] = {}
        for index, held in enumerate(storages):
            for key, size in held.items():
                if key not in callers:
                    holders.setdefault(key, set()).add(index)
                    sizes[key] = size
        total = sum(sizes.values())
        for index, held in enumerate(storages):
            if total <= budget:
                break
            if index in needed or pinned.issuperset(held):
                continue
            frame.registers[index] = RELEASED
            for key in held.keys() - pinned:
                holders[key].discard(index)
                if not holders[key]:
                    total -= sizes[key]
        return total


def _is_callers(frame: Frame, index: int) -> bool:
    """Inputs and parameters: the caller holds them, so keeping them costs nothing."""
    return frame.program.nodes[index].op in ("placeholder", "get_attr")


def _needed_after(frame: Frame, stop: int) -> set[int]:
    program = frame.program
    needed = {stop - 1} if stop == len(program) else set()
    for later in range(stop, len(program)):
        needed.update(program.index[n] for n in program.nodes[later].all_input_nodes)
    return {i for i in needed if i < stop}


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    kind = type(value)  # isinstance would ask the value, and a user's class may refuse to answer
    if kind is torch.Tensor:
        if value.layout is torch.strided:
            yield value
    elif issubclass(kind, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif issubclass(kind, dict):
        for item in value.values():
            yield from _tensors(item)
