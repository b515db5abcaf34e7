"""Moving a stopped thread in its run's past, or past nodes to come.

Each function restores the state of the place and returns the `Travel` that takes the thread
there; PastGoneError says why it cannot be. They run on the stopped thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from fxdap.engine.frame import Frame
from fxdap.engine.history import Event, History, PastGoneError
from fxdap.engine.program import SKIPPED
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from fxdap.view.source import user_line

NAMED = 3
"""Nodes that are named one by one in a sentence."""


def past_of(frame: Frame) -> History:
    """The frame's history; PastGoneError if it has none."""
    if frame.history is None:
        raise PastGoneError("nothing is recorded: timeTravel is false in the launch configuration")
    if frame not in frame.thread.frames:
        raise PastGoneError("the run is over")
    return frame.history


def innermost(thread: DebugThread) -> Frame:
    """The thread's top frame; PastGoneError if its run is over."""
    frame = thread.top
    if frame is None or (thread.stop is not None and thread.stop.reason == "uncaught"):
        raise PastGoneError("the run is over: its stack is gone")
    return frame


def step_back(thread: DebugThread) -> Travel:
    """Undo the last event: an edit, a jump, or the node that ran last.

    Before a graph's first node: back to the node that runs the graph.
    """
    frame = innermost(thread)
    history = past_of(frame)
    last = history.last
    if frame.phase == "raised":
        return _undo_nodes(frame, frame.cursor)
    if last is not None and last.kind == "edit" and last.cursor == frame.cursor:
        return _undo_edit(frame, history)
    if last is not None and last.kind == "jump" and last.landing == frame.cursor:
        return _undo_jump(frame, history)
    if frame.cursor > 0:
        return _undo_nodes(frame, frame.cursor - 1)
    caller = frame.parent
    if caller is None:
        raise PastGoneError(f"this is where the run of {frame.program.name} began")
    leave(thread, caller)
    return _undo_nodes(caller, caller.cursor)


def step_back_line(thread: DebugThread) -> Travel:
    """Undo the nodes of the user's source line that ran last."""
    frame = innermost(thread)
    last = past_of(frame).last
    changed = last is not None and last.kind != "node" and last.cursor == frame.cursor
    if frame.phase == "raised" or frame.cursor == 0 or changed:
        return step_back(thread)
    cursor = frame.cursor - 1
    here = _line(frame, cursor)
    while cursor > 0 and here is not None and _line(frame, cursor - 1) in (here, None):
        cursor -= 1
    return _undo_nodes(frame, cursor)


def _line(frame: Frame, index: int) -> tuple[str, int] | None:
    found = user_line(frame.program.nodes[index])
    return None if found is None else (found.file, found.line)


def _undo_nodes(frame: Frame, cursor: int) -> Travel:
    text = warning(frame, cursor)
    go_back(frame, cursor)
    return Travel(frame, cursor, Stop(reason="step", title="Stepped back", text=text))


def _undo_edit(frame: Frame, history: History) -> Travel:
    frame.check_travel(frame.cursor)
    event = history.undo_edit()
    if frame.watcher is not None:
        frame.watcher.taken_back(frame, frame.cursor, [event])
    stop = Stop(reason="step", title="Stepped back", text=f"undid {event.text}")
    return Travel(frame, frame.cursor, stop, "after" if frame.phase == "after" else "before")


def _undo_jump(frame: Frame, history: History) -> Travel:
    frame.check_travel(frame.cursor)
    event: Event = history.undo_edit()
    stop = Stop(reason="step", title="Stepped back", text="undid the jump")
    return Travel(frame, event.cursor, stop)


def go_back(frame: Frame, cursor: int, *, edits: bool = False) -> None:
    """Restore the state in which node `cursor` was to run next."""
    history = past_of(frame)
    frame.check_travel(cursor)
    history.check(cursor)
    undone = history.back_to(cursor, edits=edits)
    if frame.watcher is not None:
        frame.watcher.taken_back(frame, cursor, undone)


def leave(thread: DebugThread, outer: Frame) -> None:
    """Undo what the frames inside of `outer` did; they are unwound when the travel begins."""
    for inner in reversed(thread.frames[thread.frames.index(outer) + 1 :]):
        go_back(inner, 0, edits=True)


def warning(frame: Frame, cursor: int) -> str:
    """What undoing the nodes from `cursor` on leaves as it is; "" if nothing."""
    found = [
        f"%{frame.program.qualified_name(index)} {what}"
        for index, what in past_of(frame).outside(cursor)
    ]
    if not found:
        return frame.outside
    rest = f" and {len(found) - NAMED} more nodes" if len(found) > NAMED else ""
    stays = (
        f"Not undone: {'; '.join(found[:NAMED])}{rest}. What that wrote, printed or sent outside "
        f"of its tensors stays, and happens again when the run goes on."
    )
    return "\n".join(filter(None, [stays, frame.outside]))


def restart(thread: DebugThread, frame: Frame) -> Travel:
    """The graph again from its first node, with everything as it was at its entry."""
    innermost(thread)
    text = warning(frame, 0)
    leave(thread, frame)
    go_back(frame, 0, edits=True)
    stop = Stop(reason="restart", title="Restarted the graph", text=text)
    return Travel(frame, 0, stop)


def go_to(thread: DebugThread, frame: Frame, cursor: int) -> Travel:
    """Go on at node `cursor`: an earlier one undoes, a later one skips what lies between."""
    innermost(thread)
    text = warning(frame, cursor) if cursor <= frame.cursor else ""
    underway = frame is not thread.top or frame.phase == "raised"
    leave(thread, frame)
    visited = cursor if cursor <= frame.cursor else frame.cursor
    jump = next(_jumps_over(frame, cursor), None)
    if jump is not None:
        visited = jump.cursor
    if visited < frame.cursor or underway:
        go_back(frame, visited)
    else:
        frame.check_travel(cursor)
    if visited < cursor:
        _skip(frame, visited, cursor)
    return Travel(frame, cursor, Stop(reason="goto", title="Jumped", text=text))


def _jumps_over(frame: Frame, cursor: int) -> Iterator[Event]:
    """The jump that went past `cursor`, if one did."""
    events = past_of(frame).events
    return (e for e in events if e.kind == "jump" and e.cursor < cursor < e.landing)


def _skip(frame: Frame, start: int, stop: int) -> None:
    """Nodes from `start` to `stop` do not run; their values stay unset."""
    past_of(frame).add(Event(start, "jump", landing=stop))
    for index in range(start, stop):
        if frame.program.steps[index].op != "placeholder":
            frame.registers[index] = SKIPPED
    frame.position, frame.phase = stop, "before"
    frame.flag_unset()


def unset_by_jump(frame: Frame, cursor: int) -> list[int]:
    """The values that nodes from `cursor` on read and that a jump to it leaves unset."""
    steps, readers = frame.program.steps, _readers(frame)
    between = range(frame.cursor, cursor)
    return [i for i in between if steps[i].op != "placeholder" and readers[i] >= cursor]


def _readers(frame: Frame) -> list[int]:
    """For each node the last one that reads it; parameters count here."""
    program = frame.program
    found = [-1] * len(program)
    for index, node in enumerate(program.nodes):
        for source in node.all_input_nodes:
            found[program.index[source]] = index
    return found
