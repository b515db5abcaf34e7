"""What a node did to its arguments: which of them it wrote to, told by their versions."""

from __future__ import annotations

from typing import NamedTuple

import torch

from fxdap.engine.frame import Frame
from fxdap.engine.storage import tensors_in
from fxdap.engine.watches.leaves import version
from fxdap.engine.writes import find_writes, written_state, written_values


class _Noted(NamedTuple):
    place: int | None
    """The node whose value it is in; None for a module's buffer."""
    tensor: torch.Tensor
    version: int | None
    expected: bool
    """Whether the node says that it writes to this one. Inference tensors have no version to
    tell, and batch norm changes its statistics without counting it."""


class Arguments:
    """The tensors that one node may write to, as they were before it ran."""

    def __init__(self, frame: Frame, index: int) -> None:
        self.node = index
        program, registers = frame.program, frame.registers
        write = find_writes(program).get(index)
        told = write is not None and not write.unknown
        declared = tensors_in(written_values(program, index, registers)) if told else ()
        mine = {id(tensor) for tensor in declared}
        places = dict.fromkeys(program.index[n] for n in program.nodes[index].all_input_nodes)
        self._noted = [
            _Noted(place, tensor, version(tensor), id(tensor) in mine)
            for place in places
            for tensor in tensors_in(registers[place])
        ]
        self._noted += [
            _Noted(None, tensor, version(tensor), True) for tensor in written_state(program, index)
        ]

    def written(self) -> list[torch.Tensor]:
        """The tensors that were written to since."""
        return [noted.tensor for noted in self._noted if _is_written(noted)]

    def written_places(self) -> list[int]:
        """The nodes in whose values they are."""
        places = [n.place for n in self._noted if n.place is not None and _is_written(n)]
        return list(dict.fromkeys(places))


def _is_written(noted: _Noted) -> bool:
    return noted.expected or version(noted.tensor) != noted.version
