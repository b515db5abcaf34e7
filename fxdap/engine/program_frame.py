"""A run by generated code: which stretch runs how, and what happens where something waits."""

from __future__ import annotations

import sys
from time import perf_counter, thread_time
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from fxdap.engine.codegen import SPRINT_LENGTH, Segment
from fxdap.engine.execute import execute
from fxdap.engine.frame import UNSET, WATCH, Frame, ValueUnavailableError
from fxdap.engine.program import SKIPPED, SPRINT_LIMIT, Sprint, Store
from fxdap.engine.travel import Travel

if TYPE_CHECKING:
    from fxdap.engine.retention import Retention
    from fxdap.engine.watches.screens import Screen
    from fxdap.engine.watches.watcher import Watcher

_ONLY_WATCHED = bytes((0, WATCH))


class ProgramFrame(Frame):
    """A run by the code that was generated for its program.

    What stands between the call of a graph and its first node finds cold caches, where a call of a
    function costs microseconds: so `run` and what it takes on its way are few and long.
    """

    _code: CodeType | None = None
    """The generated code that runs now."""
    _sprint = range(0)
    """The nodes that it runs without a look at flags."""

    def check_change(self, index: int) -> None:
        if index in self._sprint:
            name = self.program.nodes[index].name
            raise ValueUnavailableError(
                f"%{name} cannot be changed from inside of a node that runs another graph for the "
                f"first time; stop before %{self.node.name} and change it there"
            )

    def landing(self, index: int) -> int:
        """A sprint that is going on looks at no flags."""
        return self._sprint.stop if index in self._sprint else index

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

    def locate(self) -> None:
        """Generated code notes no position as it goes; the Python stack knows its line."""
        if self._code is None:
            return
        python: FrameType | None = sys._getframe(1)
        while python is not None and python.f_code is not self._code:
            python = python.f_back
        if python is not None:
            self._take_over(python, python.f_lineno)

    def index_in(self, python: FrameType | None) -> int:
        """As `locate`, without a change to the frame."""
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
