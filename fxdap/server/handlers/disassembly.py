"""disassemble and setInstructionBreakpoints: a graph as a list of instructions, one per node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.breakpoints import stable_id
from fxdap.engine.program import Program
from fxdap.server.addresses import InstructionLocation, address, at_address, parse_address
from fxdap.server.breakpoint_table import Entry
from fxdap.server.events import listing_source
from fxdap.server.handlers.breakpoints import complete
from fxdap.server.registry import serves
from fxdap.view.node_text import node_line
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    DisassembleArguments,
    DisassembledInstruction,
    DisassembleResponseBody,
    InstructionBreakpoint,
    SetInstructionBreakpointsArguments,
    SetInstructionBreakpointsResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

LIMIT = 10_000
"""Instructions given at once."""


@serves("disassemble", offers=Capabilities(supports_disassemble_request=True))
def disassemble(session: Session, arguments: DisassembleArguments) -> Struct:
    """The nodes around one, as instructions; what lies outside of the graph is marked invalid."""
    number = parse_address(arguments.memory_reference) + (arguments.offset or 0)
    found = at_address(session.debugger.programs(), number)
    if found is None:
        raise RequestError(f"no graph is at {arguments.memory_reference}")
    program, index = found
    start = index + (arguments.instruction_offset or 0)
    stop = start + min(arguments.instruction_count, LIMIT)
    return DisassembleResponseBody(
        instructions=[_instruction(program, each) for each in range(start, stop)]
    )


def _instruction(program: Program, index: int) -> DisassembledInstruction:
    place = f"{address(program, index):#x}"
    if not 0 <= index < len(program):
        return DisassembledInstruction(
            address=place, instruction="(no node)", presentation_hint="invalid"
        )
    node = program.nodes[index]
    return DisassembledInstruction(
        address=place,
        instruction_bytes=node.op,
        instruction=node_line(node),
        symbol=program.qualified_name(index),
        location=listing_source(program),
        line=program.line(index),
    )


@serves("setInstructionBreakpoints", offers=Capabilities(supports_instruction_breakpoints=True))
def set_instruction_breakpoints(
    session: Session, arguments: SetInstructionBreakpointsArguments
) -> Struct:
    """Replace the breakpoints on nodes by address, such as the disassembly view sets."""
    taken: set[int] = set()
    entries = [_entry(each, taken) for each in arguments.breakpoints]
    return SetInstructionBreakpointsResponseBody(
        breakpoints=session.breakpoints.replace("instruction", entries)
    )


def _entry(wanted: InstructionBreakpoint, taken: set[int]) -> Entry:
    text = wanted.instruction_reference
    try:
        location = InstructionLocation(parse_address(text) + (wanted.offset or 0))
    except RequestError as error:
        return Entry(stable_id("instruction", text, taken), problem=str(error))
    entry = Entry(stable_id("instruction", location.identity(), taken), reference=location.number)
    return complete(entry, location, wanted)
