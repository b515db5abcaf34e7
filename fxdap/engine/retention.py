"""How long node values live: all of them within a memory budget, the oldest go first."""

from __future__ import annotations

from typing import Any

import torch

from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED, SegmentSize

DEFAULT_SHARE = 0.25
"""Part of the free memory that kept values may take unless `memoryBudget` says otherwise."""


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


class Retention:
    """Counts the bytes of each frame's values and lets the oldest go over the budget.

    Counting every value would cost a tenth of a small graph's time, so it is an estimate: the
    values of a segment are counted once, and later runs scale that by the segment's largest
    value. Views count twice. Only when the estimate passes the budget are storages counted.
    """

    def __init__(self, budget: int | None = None) -> None:
        self._fixed = budget

    def budget(self) -> int:
        """Bytes that the values of one frame may take."""
        if self._fixed is not None:
            return self._fixed
        self._fixed = int(free_memory() * DEFAULT_SHARE)
        return self._fixed

    def account(self, frame: Frame, start: int, stop: int) -> None:
        """Count what nodes `start` to `stop` made; release old values if it is too much."""
        sizes = frame.program.segment_sizes
        known = sizes.get(start)
        if known is None:
            known = sizes[start] = _measure(frame, start, stop)
        frame.kept_bytes += _scaled(frame, known)
        if frame.kept_bytes > self.budget():
            frame.kept_bytes = _release(frame, stop, self.budget())


def _measure(frame: Frame, start: int, stop: int) -> SegmentSize:
    sizes = [_bytes(value) for value in frame.registers[start:stop]]
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    return SegmentSize(start + largest, sizes[largest], sum(sizes))


def _scaled(frame: Frame, size: SegmentSize) -> int:
    now = _bytes(frame.registers[size.largest])
    return size.total if now == size.bytes or not size.bytes else size.total * now // size.bytes


def _bytes(value: Any) -> int:
    if type(value) is not torch.Tensor or value.layout is not torch.strided:
        return 0
    return value.nbytes


def _release(frame: Frame, stop: int, budget: int) -> int:
    """Let go of the oldest values that no later node reads until the rest fits; return its size."""
    sizes = _storage_sizes(frame.registers[:stop])
    total = sum(size for size, _ in sizes.values())
    if total <= budget:
        return total
    needed = _needed_after(frame, stop)
    for index in range(stop):
        key = _storage_key(frame.registers[index])
        if index in needed or key is None:
            continue
        frame.registers[index] = RELEASED
        size, holders = sizes[key]
        holders.discard(index)
        if not holders:
            total -= size
            if total <= budget:
                break
    return total


def _needed_after(frame: Frame, stop: int) -> set[int]:
    program = frame.program
    needed = {i for i in range(stop) if program.nodes[i].op in ("placeholder", "get_attr")}
    for later in range(stop, len(program)):
        needed.update(program.index[n] for n in program.nodes[later].all_input_nodes)
    return needed


def _storage_sizes(registers: list[Any]) -> dict[int, tuple[int, set[int]]]:
    sizes: dict[int, tuple[int, set[int]]] = {}
    for index, value in enumerate(registers):
        key = _storage_key(value)
        if key is not None:
            nbytes = value.untyped_storage().nbytes()
            sizes.setdefault(key, (nbytes, set()))[1].add(index)
    return sizes


def _storage_key(value: Any) -> int | None:
    if type(value) is not torch.Tensor or value.layout is not torch.strided:
        return None
    try:
        return int(value.untyped_storage()._cdata)
    except RuntimeError:
        return None
