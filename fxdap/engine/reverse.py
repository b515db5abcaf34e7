"""Reverse-continue: walking back to the last stop that would have been hit."""

from __future__ import annotations

from collections.abc import Iterator

from fxdap.engine.breakpoints import Hits
from fxdap.engine.frame import Frame
from fxdap.engine.history import PastGoneError
from fxdap.engine.moves import go_back, innermost, past_of, warning
from fxdap.engine.stops import Phase, Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel

Place = tuple[int, Phase]


def reverse_continue(thread: DebugThread) -> Travel:
    """Go back to the previous stop, else to where the outermost run began.

    Where the past is gone before that, the earliest place that is left.
    """
    frame = innermost(thread)
    start = frame.cursor, frame.phase
    warnings: list[str] = []
    while True:
        warnings += filter(None, [warning(frame, 0)])
        try:
            found = _search(frame, start)
        except PastGoneError as gone:
            return _earliest(frame, start, str(gone))
        if found is not None:
            return found
        go_back(frame, 0, edits=True)
        if frame.parent is None:
            text = "\n".join([f"{frame.program.name} began here", *warnings])
            return Travel(frame, 0, Stop(reason="entry", title="Back at entry", text=text))
        frame = frame.parent
        # The caller's node is one that the run arrived at, so it counts itself.
        start = frame.cursor, "raised"


def _search(frame: Frame, start: Place) -> Travel | None:
    breakpoints = frame.thread.debugger.breakpoints
    for cursor, phase in _places(frame, start):
        index = cursor if phase == "before" else cursor - 1
        found = breakpoints.bound(frame, index, phase)
        if not found:
            continue
        text = warning(frame, cursor)
        go_back(frame, cursor)
        frame.position, frame.phase = index, phase
        hits = breakpoints.would_hit(found, frame, phase)
        if hits.stops:
            return Travel(frame, cursor, _stop(hits, text), phase)
    return None


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


def _stop(hits: Hits, text: str) -> Stop:
    return Stop(
        reason=hits.reason,
        text="\n".join(filter(None, [hits.text, text])),
        breakpoint_ids=hits.ids,
    )


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
