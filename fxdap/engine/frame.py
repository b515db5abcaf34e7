"""One run of a program: its registers, its position, and the loop that runs it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Container, Iterator
from time import perf_counter, thread_time
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

from fxdap.engine.codegen import SPRINT_LENGTH, Segment
from fxdap.engine.execute import execute, fetch
from fxdap.engine.program import RELEASED, SKIPPED, SPRINT_LIMIT, Program, Released, Sprint, Store
from fxdap.engine.stops import Phase
from fxdap.engine.travel import Travel
from fxdap.engine.undo import Saved, SavedRegister

if TYPE_CHECKING:
    from fxdap.engine.history import History
    from fxdap.engine.retention import Retention
    from fxdap.engine.thread import DebugThread
    from fxdap.engine.watches.screens import Screen
    from fxdap.engine.watches.watcher import Watcher

BREAKPOINT, STEP, PAUSE, WATCH, UNSET = 1, 2, 4, 8, 16
"""Bits of a frame's flags: something of this kind waits before that node (`UNSET`: it reads a
value that a jump left unset)."""

_PAUSE_ALL = bytes(flags | PAUSE for flags in range(256))
_PAUSE_NONE = bytes(flags & ~PAUSE for flags in range(256))
_NO_BREAKPOINT = bytes(flags & ~(BREAKPOINT | WATCH) for flags in range(256))
_ONLY_WATCHED = bytes((0, WATCH))
_flags_lock = threading.Lock()


class ValueUnavailableError(LookupError):
    """A node's value is asked for that has not been computed, or was released."""


class Frame:
    """A graph that is being run by one thread.

    `registers[i]` is the value of node `i` once `i` has run. Only the owning thread writes
    registers and position. Bits of `flags` are changed under a lock by any thread (a step's landing
    by its own, breakpoints and pauses by the server's) and read without one.

    What stands between the call of a graph and its first node finds cold caches, where a call of a
    function costs microseconds: so `run` and what it takes on its way are few and long.
    """

    def __init__(self, program: Program, thread: DebugThread, parent: Frame | None) -> None:
        self.program = program
        self.thread = thread
        self.parent = parent
        # Read in this order: flags that change in between are then taken over by refresh_flags.
        self.flags_version = program.flags_version
        self._store = program.take_store()
        self.registers, self.flags = self._store
        self.position = 0
        self.phase: Phase = "before"
        self.interpreter: torch.fx.Interpreter | None = None
        self.kept_bytes = 0
        debugger = thread.debugger
        watches = debugger.watches
        self.watcher: Watcher | None = None
        # Read in this order, too: a change in between makes the version another.
        version = watches.version
        self._watched_since = version if watches.found_active is False else -1
        self.has_logged = False
        """Whether a log point wrote something in it, or in a graph that it runs."""
        self.call = 1
        """Which call of this graph it is: of the calling node, or of a graph torch derived."""
        self._calls: dict[Program, int] = {}
        self._calling = -1
        self._code: CodeType | None = None
        self._sprint = range(0)
        self.history: History | None = (
            debugger.new_history(self) if debugger.options.time_travel else None
        )
        """The run's past; None without time travel."""

    @property
    def node(self) -> Node:
        """The node about to run, or the one that just ran or raised (see `phase`)."""
        return self.program.nodes[self.position]

    @property
    def cursor(self) -> int:
        """Index of the node to run next: those before it have run."""
        return self.position + (1 if self.phase == "after" else 0)

    def inputs(self) -> list[Any]:
        """What the placeholders have."""
        return [self.registers[index] for index in self.program.placeholders]

    def computed(self) -> Iterator[int]:
        """Indices of the nodes that have a value to show, in execution order."""
        return (i for i in range(self.cursor) if not isinstance(self.registers[i], Released))

    def value(self, index: int) -> Any:
        """Return node `index`'s value; ValueUnavailableError says why there is none."""
        name = self.program.nodes[index].name
        if index > self.position or (index == self.position and self.phase != "after"):
            raise ValueUnavailableError(f"%{name} has not run yet")
        value = self.registers[index]
        if value is SKIPPED:
            raise ValueUnavailableError(f"%{name} is unset: a jump went past it")
        if value is RELEASED:
            raise ValueUnavailableError(
                f"%{name} was released: no later node reads it and values are kept only within "
                f"keepValues / memoryBudget"
            )
        return value

    def set_value(self, index: int, value: Any) -> None:
        """Replace a computed node's value; later nodes read the new one."""
        if self.registers[index] is not SKIPPED or index >= self.cursor:
            self.value(index)
        if index in self._sprint:
            name = self.program.nodes[index].name
            raise ValueUnavailableError(
                f"%{name} cannot be changed from inside of a node that runs another graph for the "
                f"first time; stop before %{self.node.name} and change it there"
            )
        name = self.program.nodes[index].name
        self.note_edit(f"the change of %{name}", SavedRegister(self, index, self.registers[index]))
        self.put(index, value)

    def note_edit(self, what: str, saved: Saved) -> None:
        """The user is about to change something, or has; `saved` undoes it."""
        self.thread.changed.append(saved)
        if self.history is not None:
            self.history.edited(what, [saved])

    def put(self, index: int, value: Any) -> None:
        """Give a node another value; nothing is recorded."""
        self.registers[index] = value

    def missing(self, cursor: int) -> Iterator[int]:
        """Values that nodes from `cursor` on read and that were let go since they were made."""
        readers = self.program.last_readers
        for index in range(min(cursor, self.cursor)):
            if self.registers[index] is RELEASED and readers[index] >= cursor:
                yield index

    @property
    def outside(self) -> str:
        """What going back leaves as it is, whatever nodes it undoes; "" if nothing."""
        return ""

    def check_travel(self, cursor: int) -> None:
        """Raises PastGoneError if the run cannot go on from node `cursor`, whatever its values."""

    def was_skipped(self, index: int) -> bool:
        """Whether the user went past node `index` with a jump."""
        return self.history is not None and self.history.was_skipped(index)

    def argument(self, value: Any) -> Any:
        """Return one of the current node's arguments with values in place of nodes."""
        return fetch(value, self.program, self.registers)

    def landing(self, index: int) -> int:
        """Where a step to node `index` can land: a sprint that is going on looks at no flags."""
        return self._sprint.stop if index in self._sprint else index

    def mark(self, index: int) -> None:
        """A step is to land before node `index`."""
        with _flags_lock:
            self.flags[index] |= STEP

    def unmark(self, index: int) -> None:
        """No step lands there any more."""
        with _flags_lock:
            self.flags[index] &= ~STEP

    def pause(self) -> None:
        """Stop before the next node of this frame."""
        with _flags_lock:
            self.flags[:] = self.flags.translate(_PAUSE_ALL)

    def unpause(self) -> None:
        """Do not stop for a pause any more."""
        with _flags_lock:
            self.flags[:] = self.flags.translate(_PAUSE_NONE)

    def clear_flags(self) -> None:
        """Stop nowhere any more."""
        with _flags_lock:
            self.flags[:] = bytes(len(self.flags))

    def refresh_flags(self) -> None:
        """Take over breakpoints that moved since the frame was made."""
        with _flags_lock:
            self.flags_version = self.program.flags_version
            kept = self.flags.translate(_NO_BREAKPOINT)
            fresh = self.program.flags
            self.flags[:] = bytes(k | f for k, f in zip(kept, fresh, strict=True))

    def run(self) -> Any:
        """Run every node and return the output node's value. The user's exceptions pass through."""
        try:
            return self._run_to_end(0)
        except Travel as arriving:
            travel = self._arrived(arriving)
        return self._run_with_travels(travel)

    def run_failed(self, segment: Segment, error: Exception) -> Any:
        """As `run`, where `segment` ran before this frame was made and raised `error`."""
        self._code = segment.__code__
        try:
            self._report(error)
            raise error
        except Travel as arriving:
            travel = self._arrived(arriving)
        finally:
            self._code = None
        return self._run_with_travels(travel)

    def _run_with_travels(self, travel: Travel) -> Any:
        """Run to the end, from wherever the user goes to meanwhile."""
        while True:
            try:
                return self._run_to_end(self._land(travel))
            except Travel as arriving:
                travel = self._arrived(arriving)

    def _arrived(self, arriving: Travel) -> Travel:
        if arriving.frame is not self:
            raise arriving
        return arriving.arrived()

    def _land(self, travel: Travel) -> int:
        """Stop where the travel ends; told to go on, run to the end of the segment and return it.

        What waits before a node is not met again when the run goes on from there.
        """
        cursor = travel.cursor
        self._sprint = range(0)
        self.forget_calls()
        self.phase = travel.phase
        self.position = cursor - 1 if travel.phase == "after" else cursor
        self.thread.stepped = True
        self.thread.halt(travel.stop)
        if cursor == len(self.program):
            return cursor
        watcher = self.watched(cursor)
        if watcher is not None:
            watcher.begin(self, cursor)
        if travel.phase == "after":
            self.thread.arrive_before(self, cursor)
        stop = self.program.end_of_segment(cursor)
        self._walk(cursor, stop, self.thread.debugger.options.keep_values, landed=cursor)
        return stop

    def _run_to_end(self, start: int) -> Any:
        index, end = start, len(self.registers)
        debugger = self.thread.debugger
        keep = debugger.options.keep_values
        fits = keep and debugger.retention.fits(self)
        retention = debugger.retention if keep and not fits else None
        while index < end:
            if retention is None:
                index = self._run_sprints(index, keep)
            if index < end:
                index = self._run_from(index, keep, retention)
        if retention is not None:
            retention.ran(self)
        self.position = end - 1
        if self.flags[end]:
            self._trap(end)
        return self.registers[-1]

    def end(self) -> None:
        """The run gave its result: its registers may serve the next one."""
        keep = self.thread.debugger.options.keep_values
        self.program.give_back(self._store, kept=keep)
        self._store = Store([], bytearray())
        self.registers = self._store.registers
        self.watcher = None

    def count_call(self, program: Program, index: int) -> int:
        """Node `index`, which is running, calls `program`: return how often it has by now."""
        if self._calling != index:
            self.forget_calls()
            self._calling = index
        count = self._calls[program] = self._calls.get(program, 0) + 1
        return count

    def forget_calls(self) -> None:
        """The current node begins anew: the next call of a graph is its first."""
        self._calls.clear()
        self._calling = -1

    def forget_past(self) -> None:
        """Let go of what was recorded."""
        if self.history is not None:
            self.history.clear()

    def locate(self) -> None:
        """Find out which node is running, from inside of what it calls.

        Generated code notes no position as it goes; the Python stack knows its line.
        """
        if self._code is None:
            return
        python: FrameType | None = sys._getframe(1)
        while python is not None and python.f_code is not self._code:
            python = python.f_back
        if python is not None:
            self._take_over(python, python.f_lineno)

    def index_in(self, python: FrameType | None) -> int:
        """The node that runs now, told by the thread's Python stack; for other threads to ask."""
        code = self._code
        while python is not None and python.f_code is not code:
            python = python.f_back
        return self.position if python is None else self.program.index_at_line(python.f_lineno)

    def _take_over(self, python: FrameType, line: int) -> None:
        """Know the position and the values of generated code that is in the middle."""
        self.position, self.phase = self.program.index_at_line(line), "before"
        for name, value in python.f_locals.items():
            if name[0] == "v":
                self.registers[int(name[1:])] = value

    def _run_from(self, start: int, keep: bool, retention: Retention | None) -> int:
        """Run a stretch of nodes, by the fastest way that misses no stop; return its end."""
        program = self.program
        watcher = self.watched(start)
        if watcher is not None and retention is None:
            screen = watcher.screen(self, start, keep=keep)
            if screen is not None and self._is_only_watched(screen.span):
                self._run_screened(screen, watcher, keep)
                return screen.span.stop
        held = keep or watcher is not None  # until they were looked at
        sprint = program.sprint(start, keep=held, recorded=self._recorded)
        if sprint is not None and self._is_free(sprint, retention):
            stop = sprint.span.stop
            self._run_sprint(sprint)
        else:
            stop = program.end_of_segment(start)
            segment = program.segment(start, keep=held, recorded=self._recorded)
            if segment is None:
                self._walk(start, stop, keep)
            else:
                self._run_segment(segment)
        watcher = self.watched(stop)
        if watcher is not None:
            stop = watcher.check(self, stop, keep=keep)
        if retention is not None:
            retention.account(self, start, stop)
        return stop

    def watched(self, start: int) -> Watcher | None:
        """Who looks at the values from node `start` on; what is watched may have changed."""
        watches = self.thread.debugger.watches
        if self._watched_since != watches.version:
            self._watched_since = watches.version
            self.watcher = watches.watcher(self, start) if watches.active else None
        return self.watcher

    def _catch_up(self, index: int) -> None:
        """Look at what ran before node `index`; turned back, run up to it again."""
        watcher = self.watched(index)
        if watcher is None:
            return
        keep = self.thread.debugger.options.keep_values
        code, self._code = self._code, None  # the position is no longer that of generated code
        at = watcher.check(self, index, keep=keep)
        if at < index:
            self._walk(at, index, keep)
        self._code = code

    def _run_sprints(self, start: int, keep: bool) -> int:
        """Run one sprint after another while nothing waits and nobody watches; return the end.

        What stands between two of them is most of what a run costs: it is kept short.
        """
        if start % SPRINT_LENGTH or self.watched(start) is not None:
            return start
        program, end, watches = self.program, len(self.flags) - 1, self.thread.debugger.watches
        given = self.registers, self.flags, self._trap_in_code, program.module, self._save
        recorded = self.history.effects if self.history is not None else ()
        count = self.flags.count
        known, suspected = program.sprints(keep=keep, recorded=bool(recorded)), program.suspected
        index, began = start, perf_counter()
        try:
            while index < end and watches.version == self._watched_since:
                if index in suspected:
                    break
                sprint = known[index // SPRINT_LENGTH]
                sprint = sprint or program.sprint(index, keep=keep, recorded=recorded)
                if sprint is None:
                    break
                span, code = sprint
                if count(0, index, span.stop) != len(span):
                    break
                self._sprint, self._code = span, code.__code__
                code(*given)
                ended = perf_counter()
                if ended - began > SPRINT_LIMIT:
                    suspected[index] = 0
                index, began = span.stop, ended
        except Exception as error:
            self._report(error)
            raise
        finally:
            self._code = None
        self._sprint = range(0)
        return index

    def _is_free(self, sprint: Sprint, retention: Retention | None) -> bool:
        """Whether nothing waits in a sprint, and there is room for its values."""
        start, stop = sprint.span.start, sprint.span.stop
        has_room = retention is None or retention.has_room(self, start, stop)
        return has_room and self.flags.count(0, start, stop) == stop - start

    def _is_only_watched(self, span: range) -> bool:
        """Whether nothing waits in a stretch but looks at its values."""
        return not self.flags[span.start : span.stop].strip(_ONLY_WATCHED)

    def _run_screened(self, screen: Screen, watcher: Watcher, keep: bool) -> None:
        """Run nodes while their values are looked at; if that shows something, one by one again.

        What raises is run again, too: what the watch finds before it comes first.
        """
        span, began, sums = screen.span, thread_time(), None
        self._sprint, self._code = span, screen.code.__code__
        given = self.registers, self.flags, self._trap_in_code, self.program.module, self._save
        try:
            sums = screen.code(*given)
        except Exception:
            pass
        finally:
            self._sprint, self._code = range(0), None
        screen.took(thread_time() - began)
        if not watcher.passed(self, screen, sums, keep=keep):
            self._walk(span.start, span.stop, keep)
            watcher.ran_again(screen)

    def _run_sprint(self, sprint: Sprint) -> None:
        """Run nodes without a look at flags, and note whether they computed for long.

        The time that a thread computed is a system call away, so that only a sprint which took
        long by the clock is asked for it, the next time.
        """
        self._sprint = sprint.span
        busy, began = thread_time(), perf_counter()
        self._run_segment(sprint.code)
        self._sprint = range(0)
        start = sprint.span.start
        self.program.sprinted(start, thread_time() - busy, perf_counter() - began)

    def _run_segment(self, segment: Segment) -> None:
        self._code = segment.__code__
        try:
            segment(self.registers, self.flags, self._trap_in_code, self.program.module, self._save)
        except Exception as error:
            self._report(error)
            raise
        finally:
            self._code = None

    def _report(self, error: Exception) -> None:
        """Generated code raised: find out at which node, and let the thread know."""
        assert self._code is not None
        failed = _frame_of(error.__traceback__, self._code)
        if failed is not None:
            self._take_over(failed.tb_frame, failed.tb_lineno)
            self._catch_up_before_error()
        self.thread.raised(self, error)

    def _catch_up_before_error(self) -> None:
        """Node `position` raised; what ran before it may explain why."""
        failed = self.position
        self._catch_up(failed)
        self.position, self.phase = failed, "before"

    def _walk(self, start: int, stop: int, keep: bool, landed: int = -1) -> None:
        registers, flags, program = self.registers, self.flags, self.program
        for index in range(start, stop):
            if flags[index] and index != landed:
                self._trap(index)
            self.position, self.phase = index, "before"
            try:
                if flags[index] & UNSET:
                    self._check_arguments(index)
                if index in self._recorded:
                    self._save(index)
                registers[index] = execute(program, index, registers)
            except Exception as error:
                self.thread.raised(self, error)
                raise
            watcher = self.watched(index)
            if watcher is not None:
                watcher.check(self, index + 1, keep=keep)
            elif not keep:
                self.release_dead(index)

    def release_dead(self, index: int) -> None:
        """Let go of the values that nothing reads after node `index`."""
        for dead in self.program.last_uses[index]:
            self.registers[dead] = RELEASED

    def _trap(self, index: int) -> None:
        self._catch_up(index)
        if self.flags[index] & ~(WATCH | UNSET):
            self.thread.arrive(self, index)
            watcher = self.watched(index)
            if watcher is not None:
                watcher.begin(self, index)  # the user may have written to its arguments

    def _trap_in_code(self, index: int) -> None:
        self._trap(index)
        if self.flags[index] & UNSET:
            self._check_arguments(index)

    def _save(self, index: int) -> None:
        if self.history is not None:
            self.history.record(index)

    @property
    def _recorded(self) -> Container[int]:
        return self.history.effects if self.history is not None else ()

    def flag_unset(self) -> None:
        """Find the nodes to come that read a value which a jump left unset."""
        unset = {i for i in range(self.cursor) if self.registers[i] is SKIPPED}
        with _flags_lock:
            for index in range(self.cursor, len(self.program)):
                if any(self.program.index[n] in unset for n in self._inputs(index)):
                    self.flags[index] |= UNSET

    def _inputs(self, index: int) -> list[Node]:
        return self.program.nodes[index].all_input_nodes

    def _check_arguments(self, index: int) -> None:
        for node in self._inputs(index):
            if self.registers[self.program.index[node]] is SKIPPED:
                name = self.program.nodes[index].name
                raise ValueUnavailableError(
                    f"%{name} reads %{node.name}, which is unset: a jump went past it. Set it in "
                    f"the Variables view, or step back"
                )


def _frame_of(traceback: TracebackType | None, code: CodeType) -> TracebackType | None:
    """The outermost frame running `code`: inner ones are other runs."""
    while traceback is not None and traceback.tb_frame.f_code is not code:
        traceback = traceback.tb_next
    return traceback
