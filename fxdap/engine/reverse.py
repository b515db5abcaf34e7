"""Reverse-continue: walking back to the last stop that would have been hit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fxdap.engine.breakpoints import Breakpoint, Hits
from fxdap.engine.frame import Frame
from fxdap.engine.history import PastGoneError
from fxdap.engine.moves import go_back, innermost, past_of, warning
from fxdap.engine.stops import Phase, Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from fxdap.engine.watches.found import Finding
from fxdap.engine.watches.past import PastWatch
from fxdap.engine.watches.watcher import stop_for

Place = tuple[int, Phase]
Wanted = Callable[[int], bool]
"""Whether the walk, which is before this node now, is still wanted."""


def reverse_continue(thread: DebugThread, wanted: Wanted = lambda cursor: True) -> Travel:
    """Go back to the previous stop, else to where the outermost run began.

    Where the past is gone before that, the earliest place that is left; where the walk is no
    longer wanted, the place that it has come to.
    """
    frame = innermost(thread)
    start = frame.cursor, frame.phase
    warnings: list[str] = []
    while True:
        try:
            found = _Walk(frame, warnings).back(start, wanted)
        except PastGoneError as gone:
            return _earliest(frame, start, str(gone))
        if found is not None:
            return found
        if frame.parent is None:
            text = _told([f"{frame.program.name} began here", *warnings])
            return Travel(frame, 0, Stop(reason="entry", title="Back at entry", text=text))
        frame = frame.parent
        # The caller's node is one that the run arrived at, so it counts itself.
        start = frame.cursor, "raised"


class _Walk:
    """The way back through one run. `warnings` has what the walk so far leaves as it is."""

    def __init__(self, frame: Frame, warnings: list[str]) -> None:
        self._frame = frame
        self._breakpoints = frame.thread.debugger.breakpoints
        self._past: PastWatch | None = frame.thread.debugger.watches.past(frame)
        self._warnings = warnings

    def back(self, start: Place, wanted: Wanted) -> Travel | None:
        """To the last stop of this run; None if there is none, then all of it is undone."""
        for cursor, phase in _places(self._frame, start):
            if not wanted(cursor):
                return self._given_up(cursor)
            stop = self._arrive(cursor, phase)
            if stop is not None:
                return Travel(self._frame, cursor, stop, phase)
        self._undo(0, edits=True)
        return None

    def _arrive(self, cursor: int, phase: Phase) -> Stop | None:
        frame, history = self._frame, past_of(self._frame)
        index = cursor if phase == "before" else cursor - 1
        bound = self._breakpoints.bound(frame, index, phase)
        findings: list[Finding] = []
        if self._past is not None:
            if history.changed_since(cursor):
                self._undo(cursor)
            if phase == "after":
                findings, hit = self._past.after(index)
            else:
                hit = self._past.edits(cursor)
            bound = [*bound, *hit]
        if not bound and not findings:
            return None
        self._undo(cursor)
        frame.position, frame.phase = index, phase
        return self._stop(findings, bound, phase)

    def _stop(self, findings: list[Finding], bound: list[Breakpoint], phase: Phase) -> Stop | None:
        hits = self._breakpoints.would_hit(bound, self._frame, phase)
        if findings:
            stop = stop_for(findings, hits.ids)
            return replace(stop, text=_told([stop.text, *self._warnings]))
        return _stop_at(hits, self._warnings) if hits.stops else None

    def _given_up(self, cursor: int) -> Travel:
        self._undo(cursor)
        stop = Stop(reason="step", title="Going back was cancelled", text=_told(self._warnings))
        return Travel(self._frame, cursor, stop)

    def _undo(self, cursor: int, *, edits: bool = False) -> None:
        self._warnings += filter(None, [warning(self._frame, cursor)])
        go_back(self._frame, cursor, edits=edits)


def _places(frame: Frame, start: Place) -> Iterator[Place]:
    """The places that the run arrived at, latest first."""
    cursor, phase = start
    history = past_of(frame)
    if phase == "raised":
        yield cursor, "before"
    if phase != "after" and cursor > 0 and not history.was_skipped(cursor - 1):
        yield cursor, "after"
    for earlier in range(cursor - 1, -1, -1):
        if not history.was_skipped(earlier):
            yield earlier, "before"
        if earlier > 0 and not history.was_skipped(earlier - 1):
            yield earlier, "after"


def _stop_at(hits: Hits, warnings: list[str]) -> Stop:
    text = _told([hits.text, *warnings])
    return Stop(reason=hits.reason, text=text, breakpoint_ids=hits.ids)


def _told(parts: list[str]) -> str:
    """Each part once."""
    return "\n".join(dict.fromkeys(filter(None, parts)))


def _earliest(frame: Frame, start: Place, why: str) -> Travel:
    """The earliest place that can still be gone back to."""
    history = past_of(frame)
    for cursor in range(frame.cursor + 1):
        try:
            history.check(cursor)
            frame.check_travel(cursor)
        except PastGoneError:
            continue
        if (cursor, "before") != start or frame.phase == "after":
            go_back(frame, cursor)
            stop = Stop(reason="step", title="Back as far as possible", text=why)
            return Travel(frame, cursor, stop)
        break
    raise PastGoneError(why)
