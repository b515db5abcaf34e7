"""Nodes as instructions: an address for each, the same in every session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from fxdap.engine.program import Program
from fxdap.engine.stops import Reason
from fxdap.wire.errors import RequestError

_NODES = 1 << 24
"""Addresses that one graph has."""


def address(program: Program, index: int) -> int:
    """Where node `index` stands: the graph's part from its name, then the node's number."""
    return _base(program.name, program.path) + index


@lru_cache(maxsize=1024)
def _base(name: str, path: str) -> int:
    return (crc32(f"{name}/{path}".encode()) | 1 << 32) * _NODES


def parse_address(text: str) -> int:
    """The number in a reference; RequestError if it is none of ours."""
    try:
        return int(text, 0)
    except ValueError:
        raise RequestError(
            f"{text!r} is no instruction reference; stack frames and `disassemble` give them"
        ) from None


def at_address(programs: Sequence[Program], number: int) -> tuple[Program, int] | None:
    """The graph that an address belongs to, and the node's number, which may be out of range."""
    for program in programs:
        index = number - _base(program.name, program.path)
        if -_NODES // 2 < index < _NODES // 2:
            return program, index
    return None


@dataclass
class InstructionLocation:
    """A node by its address."""

    number: int
    after: bool = False
    reason: Reason = "instruction breakpoint"

    def indices(self, program: Program) -> Sequence[int]:
        found = at_address([program], self.number)
        return (found[1],) if found is not None and 0 <= found[1] < len(program) else ()

    def describe(self, programs: Sequence[Program]) -> tuple[bool, str]:
        found = at_address(programs, self.number)
        if found is None:
            return False, "waiting for this graph to run"
        program, index = found
        if not 0 <= index < len(program):
            return False, f"graph {program.name} has no node at {self.number:#x}"
        return True, f"before %{program.qualified_name(index)}"

    def identity(self) -> str:
        return f"{self.number:#x}"
