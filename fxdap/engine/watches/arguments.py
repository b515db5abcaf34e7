"""What a node did to its arguments: which of them it wrote to, told by their versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.engine.storage import overlap, tensors_in
from fxdap.engine.undo import Saved, SavedTensor
from fxdap.engine.watches.leaves import version
from fxdap.engine.writes import find_writes, written_arguments, written_state


class _Noted(NamedTuple):
    place: int | None
    """The node whose value it is in; None for a module's buffer."""
    tensor: torch.Tensor
    version: int | None
    expected: bool
    """Whether the node says that it writes to this one. Inference tensors have no version to
    tell, and batch norm changes its statistics without counting it."""


class Declared(NamedTuple):
    """What one node says of its arguments, as its modules are switched now."""

    read: tuple[int, ...]
    """The nodes whose values it is given."""
    written: tuple[int, ...]
    """Those of them that it says it writes to."""
    writes_state: bool
    """Whether it writes to buffers or weights of its module."""


def declared(program: Program, index: int) -> Declared:
    """Work that out; it stays true until a module is switched."""
    write = find_writes(program).get(index)
    told = write is not None and not write.unknown
    arguments = written_arguments(program, index) if told else []
    written: list[Node] = []
    map_arg(arguments, written.append)
    read = dict.fromkeys(program.index[node] for node in program.nodes[index].all_input_nodes)
    return Declared(
        tuple(read),
        tuple(program.index[node] for node in written),
        write is not None and write.state,
    )


Versions = Callable[[torch.Tensor], int | None]


class Arguments:
    """The tensors that one node may write to, as they were before it ran: by `before`."""

    def __init__(
        self, frame: Frame, index: int, declared: Declared, before: Versions = version
    ) -> None:
        self.node = index
        registers = frame.registers
        mine = {id(t) for place in declared.written for t in tensors_in(registers[place])}
        self._noted = [
            _Noted(place, tensor, before(tensor), id(tensor) in mine)
            for place in declared.read
            for tensor in tensors_in(registers[place])
        ]
        if declared.writes_state:
            state = written_state(frame.program, index)
            self._noted += [_Noted(None, tensor, before(tensor), True) for tensor in state]

    def written(self) -> list[torch.Tensor]:
        """The tensors that were written to since."""
        return [noted.tensor for noted in self._noted if _is_written(noted)]

    def written_places(self) -> list[int]:
        """The nodes in whose values they are."""
        places = [n.place for n in self._noted if n.place is not None and _is_written(n)]
        return list(dict.fromkeys(places))


def recorded_versions(saved: Iterable[Saved]) -> Versions:
    """The versions that tensors had when something was saved of a node that has run since."""
    known = [each for each in saved if isinstance(each, SavedTensor)]

    def before(tensor: torch.Tensor) -> int | None:
        mine = (each.version for each in known if overlap(each.tensor, tensor))
        return next(mine, version(tensor))

    return before


def _is_written(noted: _Noted) -> bool:
    return noted.expected or version(noted.tensor) != noted.version
