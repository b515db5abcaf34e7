"""The watches over one run: look at what has run, and stop at the first node that shows something.

Nodes that may run twice without a trace are looked at many at once, after they ran. If one of
them shows something, the run is taken back to it: what came after it is forgotten and runs again
from there. Before every other node, everything up to it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.frame import Frame
from fxdap.engine.history import Event
from fxdap.engine.program import RELEASED, Released
from fxdap.engine.stops import Stop
from fxdap.engine.watches.arguments import Arguments, Declared, declared
from fxdap.engine.watches.census import count
from fxdap.engine.watches.data import DataWatch
from fxdap.engine.watches.finite import GIVEN, FiniteWatch, Spread
from fxdap.engine.watches.found import EXCEPTIONS, TITLES, Finding
from fxdap.engine.watches.holding import Holding
from fxdap.engine.watches.in_place import InPlaceWatch
from fxdap.engine.watches.recorded import Bindings, MetaWatch
from fxdap.engine.watches.rerun import OneTimeNodes
from fxdap.engine.watches.screens import Screen, Screens, can_look
from fxdap.engine.writes import sharing


@dataclass
class ProgramWatch:
    """What is watched in one program; outlives its runs, since it learns from them."""

    finite: FiniteWatch | None
    meta: MetaWatch | None
    in_place: InPlaceWatch | None
    data: DataWatch | None
    one_time: OneTimeNodes
    holding: Holding
    screens: Screens | None
    """How to look while nodes run; None where more is watched than can be told so."""
    declared: dict[int, Declared] = field(default_factory=dict)

    def arguments(self, frame: Frame, index: int) -> Arguments | None:
        """What a node that may not run twice is given, as it is before it runs."""
        if index not in self.one_time.indices:
            return None
        told = self.declared.get(index)
        if told is None:
            told = self.declared[index] = declared(frame.program, index)
        return Arguments(frame, index, told)

    @property
    def places(self) -> frozenset[int]:
        """The nodes before which everything so far is looked at."""
        return self.one_time.indices | self.holding.places

    def __bool__(self) -> bool:
        return any((self.finite, self.meta, self.in_place, self.data))


class Watcher:
    """One run's state: how far was looked, and what was found so far. Used by its thread only."""

    def __init__(self, watch: ProgramWatch, frame: Frame, start: int) -> None:
        self.watch = watch
        self.done = start
        self._spread: Spread = {}
        self._wrong: set[int] = set()
        before = frame.watcher
        if before is not None:  # what was told is known, whatever is watched now
            self._spread, self._wrong = before._spread, before._wrong
        if watch.finite is not None:
            self._recount(frame, (i for i in range(start) if i not in self._spread))
        caller = frame.parent
        if caller is not None and caller.watcher is not None:
            self._spread[GIVEN] = caller.watcher.passed_to(caller)
        self._bindings = Bindings()
        self._arguments: Arguments | None = None
        self._expect(frame, start)

    def check(self, frame: Frame, stop: int, *, keep: bool) -> int:
        """Look at the nodes that ran since the last call, up to `stop`; where to go on from."""
        start, self.done = self.done, stop
        if start >= stop or frame.thread.evaluating:
            return stop
        written = self._written(frame, start)
        found = self._earliest(frame, start, start + 1 if written else stop)
        shows = bool(found or written)
        end = found[0].index + 1 if found else start + 1 if written else stop
        if self.watch.screens is not None and not shows:
            self.watch.screens.note(frame.registers, start, stop)
        learned = not keep and not shows and self.watch.holding.learn(frame, start, stop)
        if not keep:
            self.watch.holding.release(frame, start, end - shows)
        if learned:
            frame.thread.debugger.breakpoints.bind(frame.program)
        if shows:
            self._take_back(frame, end, stop)
            self.done = end
            self._halt(frame, end - 1, found, written)
            if not keep:
                frame.release_dead(end - 1)
        self._expect(frame, end)
        return end

    def screen(self, frame: Frame, start: int, *, keep: bool) -> Screen | None:
        """A stretch from node `start` on that can be looked at while it runs."""
        screens, watch = self.watch.screens, self.watch
        if screens is None or watch.finite is None or frame.thread.evaluating or not can_look():
            return None
        if any(self._spread.values()):
            return None  # what passed something on is no news further down: look at each
        recorded = frame.history.effects if frame.history is not None else ()
        return screens.at(start, recorded, keep=keep)

    def passed(
        self, frame: Frame, screen: Screen, sums: Iterable[Any] | None, *, keep: bool
    ) -> bool:
        """Whether a screened stretch, which has run, showed nothing; `sums` None if it raised.

        If not, what it made is forgotten: it is to run again, with a look after each node.
        """
        span, finite, screens = screen.span, self.watch.finite, self.watch.screens
        assert finite is not None
        assert screens is not None
        as_learned = screen.is_as_learned(frame.registers)
        if not as_learned:
            screens.forget()
        if (
            sums is None
            or not as_learned
            or not screen.is_clean(frame.registers, sums, finite.constants)
        ):
            self._take_back(frame, span.start, span.stop)
            return False
        self.done = span.stop
        if not keep:
            self.watch.holding.release(frame, span.start, span.stop)
        self._expect(frame, span.stop)
        return True

    def ran_again(self, screen: Screen) -> None:
        """It did."""
        screen.doubts += not any(self._spread.values())

    def _written(self, frame: Frame, start: int) -> list[Breakpoint]:
        """The data breakpoints that a node's writes hit."""
        arguments, data = self._arguments, self.watch.data
        if data is None or arguments is None or arguments.node != start:
            return []
        return data.hit(frame, arguments)

    def _halt(
        self, frame: Frame, index: int, found: list[Finding], written: list[Breakpoint]
    ) -> None:
        """Stop after the node, unless only breakpoints are hit and their conditions say no."""
        thread, breakpoints = frame.thread, frame.thread.debugger.breakpoints
        thread.reached(frame, index)
        hits = breakpoints.judge(written, frame) if written else None
        if found:
            self._tell_callers(frame, {finding.filter for finding in found})
            thread.halt(stop_for(found, hits.ids if hits is not None else ()))
        elif hits is not None and hits.stops:
            name = frame.program.nodes[index].name
            text = hits.text or f"%{name} wrote into the value"
            thread.halt(Stop(reason=hits.reason, text=text, breakpoint_ids=hits.ids))
        self._look_again(frame, index)

    def begin(self, frame: Frame, index: int) -> None:
        """A node is about to run by itself, in whatever order its interpreter chose."""
        self.done = index
        self._expect(frame, index)

    def taken_back(self, frame: Frame, cursor: int, undone: Iterable[Event]) -> None:
        """The run was taken back to node `cursor`: what it shows from there on is news again."""
        self._wrong -= {index for index in self._wrong if index >= cursor}
        for index in [index for index in self._spread if index >= cursor]:
            del self._spread[index]
        known = {index for index in self._spread if index != GIVEN}
        again = {index for index in known if self._spread[index]}
        for event in undone:
            again |= known & (known if event.kind == "edit" else _inputs(frame, event.cursor))
        self._recount(frame, again)

    def _recount(self, frame: Frame, places: Iterable[int]) -> None:
        for index in places:
            value = frame.registers[index]
            if not isinstance(value, Released):
                self._spread[index] = set(count(value).counts)

    def _rename(self, frame: Frame, arguments: Arguments | None) -> None:
        """Other names show what a node wrote, too."""
        if arguments is not None and any(self._spread.values()):
            self._recount(frame, sharing(frame, arguments.written(), arguments.node + 1))

    def passed_to(self, frame: Frame) -> set[str]:
        """What is in the arguments of the node that runs now, a call of another graph."""
        sources = _inputs(frame, frame.position)
        return set().union(*(self._spread.get(source, ()) for source in sources))

    def _tell_callers(self, frame: Frame, filters: set[str]) -> None:
        """What is found in a graph that a node runs is no news in the value of that node."""
        caller = frame.parent
        while caller is not None:
            if caller.watcher is not None:
                caller.watcher._spread.setdefault(caller.position, set()).update(filters)
            caller = caller.parent

    def _look_again(self, frame: Frame, index: int) -> None:
        """The user may have mended the value meanwhile."""
        if self.watch.finite is not None and self._spread.get(index):
            self._spread[index] = set(count(frame.registers[index]).counts)

    def _earliest(self, frame: Frame, start: int, stop: int) -> list[Finding]:
        """The findings at the first node that shows anything."""
        watch, found = self.watch, []
        arguments = self._arguments
        if arguments is not None and arguments.node != start:
            arguments = None
        if watch.finite is not None:
            written = arguments.written_places() if arguments is not None else ()
            found += watch.finite.first(
                frame, start, stop, written, self._spread, lambda: self._rename(frame, arguments)
            )
        if watch.meta is not None:
            end = found[0].index + 1 if found else stop
            found += watch.meta.first(frame, start, end, self._bindings, self._wrong)
        if watch.in_place is not None and arguments is not None:
            found += watch.in_place.first(frame, arguments)
        first = min((finding.index for finding in found), default=None)
        return [finding for finding in found if finding.index == first]

    def _take_back(self, frame: Frame, end: int, stop: int) -> None:
        steps, registers = frame.program.steps, frame.registers
        for index in range(end, stop):
            if steps[index].op != "placeholder":
                registers[index] = RELEASED

    def _expect(self, frame: Frame, index: int) -> None:
        """Note the state of a node's arguments before it may write to them."""
        self._arguments = self.watch.arguments(frame, index)


def _inputs(frame: Frame, index: int) -> set[int]:
    program = frame.program
    return {program.index[node] for node in program.nodes[index].all_input_nodes}


def stop_for(found: list[Finding], breakpoint_ids: tuple[int, ...]) -> Stop:
    """The stop at a node that shows something."""
    first = found[0]
    text = "\n".join(finding.text for finding in found)
    return Stop(
        reason="exception",
        text=text,
        title=TITLES[first.filter],
        breakpoint_ids=breakpoint_ids,
        exception=EXCEPTIONS[first.filter](text),
    )
