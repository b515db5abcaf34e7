"""Data breakpoints: on reading a node's value, or on changing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED, Program
from fxdap.engine.stops import Reason
from fxdap.engine.storage import overlap, tensors_in
from fxdap.engine.undo import Saved, SavedRegister, SavedTensor
from fxdap.engine.watches.arguments import Arguments

Access = Literal["read", "write", "readWrite"]


@dataclass
class DataLocation:
    """Before the nodes that read a value (`access` "read"), or after those that wrote to it.

    What writes is known only when it has written: nodes that may are asked by `Watches`.
    """

    graph: str
    name: str
    """The node, qualified as the listing does."""
    access: Access
    after: bool = False
    reason: Reason = "data breakpoint"

    def node_index(self, program: Program) -> int | None:
        """The node whose value it is on, if it is one of this program's."""
        path, _, name = self.name.rpartition("/")
        if program.name != self.graph or program.path != path:
            return None
        return program.by_name.get(name)

    def indices(self, program: Program) -> Sequence[int]:
        index = self.node_index(program)
        if index is None or self.access == "write":
            return ()
        return sorted(program.index[user] for user in program.nodes[index].users)

    def describe(self, programs: Sequence[Program]) -> tuple[bool, str]:
        mine = [p for p in programs if p.name == self.graph]
        if not mine:
            return False, f"waiting for graph {self.graph} to run"
        found = [p for p in mine if self.node_index(p) is not None]
        if not found:
            return False, f"the graph has no node %{self.name} any more"
        total = sum(len(self.indices(p)) for p in found)
        readers = f"{total} node{'s read it' if total != 1 else ' reads it'}"
        writers = f"whatever writes into %{self.name}, under any name"
        return True, {"read": readers, "write": writers}.get(self.access, f"{readers}; {writers}")

    def identity(self) -> str:
        return f"{self.graph}/{self.name}:{self.access}"


class DataWatch:
    """The data breakpoints on writes in one program, by the node whose value they are on."""

    def __init__(self, places: Mapping[int, list[Breakpoint]]) -> None:
        self._places = places

    def hit(self, frame: Frame, arguments: Arguments) -> list[Breakpoint]:
        """Those whose value the node with these arguments wrote to."""
        written = arguments.written()
        return [
            each
            for place, breakpoints in self._places.items()
            if written and place < arguments.node and _touches(frame.registers[place], written)
            for each in breakpoints
        ]

    def edited(self, frame: Frame, changed: Iterable[Saved]) -> list[Breakpoint]:
        """Those whose value the user changed, with what each change has saved."""
        changes = list(changed)
        tensors = [each.tensor for each in changes if isinstance(each, SavedTensor)]
        replaced = {
            each.index
            for each in changes
            if isinstance(each, SavedRegister) and each.owner is frame
        }
        return [
            each
            for place, breakpoints in self._places.items()
            if place < frame.cursor
            and (place in replaced or _touches(frame.registers[place], tensors))
            for each in breakpoints
        ]


def is_on_writes(breakpoint: Breakpoint) -> bool:
    """Whether it is a data breakpoint that wants to know of writes."""
    location = breakpoint.location
    return isinstance(location, DataLocation) and location.access != "read"


def data_watch(program: Program, breakpoints: Iterable[Breakpoint]) -> DataWatch | None:
    """What watches the writes to values of this program; None if none is to be watched."""
    places: dict[int, list[Breakpoint]] = {}
    for each in breakpoints:
        location = each.location
        if not isinstance(location, DataLocation) or location.access == "read":
            continue
        index = location.node_index(program)
        if index is not None:
            places.setdefault(index, []).append(each)
    return DataWatch(places) if places else None


def _touches(value: Any, written: list[torch.Tensor]) -> bool:
    if value is RELEASED:
        return False
    return any(overlap(mine, theirs) for mine in tensors_in(value) for theirs in written)
