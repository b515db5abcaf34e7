"""Bodies that nothing can stop in: they run without a frame, which may take longer than they do."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from fxdap.engine.bodies import only_caller
from fxdap.engine.effects import find_effects
from fxdap.engine.program import Program
from fxdap.engine.program_frame import ProgramFrame
from fxdap.engine.thread import DebugThread, run_in


class Frameless:
    """A body that one node calls, as a function of its inputs, while nothing is set in it.

    It must be one sprint: then it is short, so that a pause or a breakpoint that comes meanwhile
    acts in the next call, and it runs no graph that would miss the frame of its caller. It may
    change nothing that going back in it would undo.
    """

    def __init__(self, program: Program, caller: Program, index: int, keep: bool) -> None:
        self._program = program
        self.caller = caller
        self._index = index
        self._code = program.whole_code(keep=keep)
        self.flags_version = program.flags_version

    def run(self, thread: DebugThread, inputs: list[Any]) -> Any:
        """Run it. If a node raises, a frame takes over as if it had been there before."""
        given = inputs.copy()  # the code lets go of what it has read
        program, caller = self._program, thread.frames[-1]
        began = perf_counter()
        try:
            result = self._code(given, program.flags, _never, program.module, _never)
        except Exception as error:
            return self._run_failed(thread, inputs, error)
        seconds = perf_counter() - began
        program.sprinted(0, seconds, seconds)
        caller.count_call(program, self._index)
        return result

    def _run_failed(self, thread: DebugThread, inputs: list[Any], error: Exception) -> Any:
        frame = ProgramFrame(self._program, thread, thread.top)
        frame.registers[: len(inputs)] = inputs
        result = run_in(thread, frame, lambda: frame.run_failed(self._code, error))
        frame.end()
        return result


def frameless(thread: DebugThread, program: Program) -> Frameless | None:
    """A body that the current node calls, if it can run without a frame now."""
    if thread.awaits_graph() or thread.debugger.watches.active:
        return None
    known: Frameless | None = program.frameless
    if known is None or known.flags_version != program.flags_version:
        known = _make(thread, program)
    if known is None or known.caller is not thread.frames[-1].program or 0 in program.no_sprint:
        return None
    return known


def _make(thread: DebugThread, program: Program) -> Frameless | None:
    debugger, caller = thread.debugger, thread.frames[-1].program
    keep = debugger.options.keep_values
    sprint = program.sprint(0, keep=keep)
    if any(program.flags) or sprint is None or len(sprint.span) != len(program):
        return None
    if debugger.options.time_travel and find_effects(program):
        return None
    if keep and not debugger.retention.is_tiny(program):
        return None
    index = only_caller(caller, program.module)
    if index is None or list(program.placeholders) != list(range(len(program.placeholders))):
        return None
    program.frameless = Frameless(program, caller, index, keep)
    return program.frameless


def _never(index: int) -> None:
    """A sprint looks at no flags, and one that records nothing saves nothing."""
