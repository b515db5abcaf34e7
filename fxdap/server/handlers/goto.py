"""gotoTargets and goto: going on at another node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.frame import Frame
from fxdap.engine.locations import same_file
from fxdap.engine.moves import NAMED, go_to, unset_by_jump
from fxdap.engine.plan import Plan
from fxdap.engine.sourcelines import real_path, stops_by_line
from fxdap.engine.thread import DebugThread
from fxdap.server.handles import Jump
from fxdap.server.moving import move
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    GotoArguments,
    GotoTarget,
    GotoTargetsArguments,
    GotoTargetsResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves("gotoTargets", When.STOPPED, offers=Capabilities(supports_goto_targets_request=True))
def goto_targets(session: Session, arguments: GotoTargetsArguments) -> Struct:
    """The ways to the nodes on a line of a listing or of Python source."""
    thread = session.last_stopped()
    path = arguments.source.path
    if thread is None or path is None:
        raise RequestError.not_stopped()
    jumps = [jump for frame in thread.frames for jump in _jumps(frame, path, arguments.line)]
    targets = [
        GotoTarget(
            id=session.jumps.add((id(j.frame), j.index, j.how), thread.id, j),
            label=_label(j),
            line=arguments.line,
        )
        for j in jumps
    ]
    return GotoTargetsResponseBody(targets=targets)


def _jumps(frame: Frame, path: str, line: int) -> Iterator[Jump]:
    for index in _nodes_on(frame, path, line):
        if index <= frame.cursor:
            yield Jump(frame, index, "back")
        elif frame is frame.thread.top:
            yield Jump(frame, index, "run")
            if frame.history is not None:
                yield Jump(frame, index, "skip")


def _nodes_on(frame: Frame, path: str, line: int) -> list[int]:
    program = frame.program
    if not same_file(program.file, path):
        return list(stops_by_line(program).get((real_path(path), line), ()))
    return [i for i in range(len(program)) if program.line(i) == line]


def _label(jump: Jump) -> str:
    frame, name = jump.frame, f"%{jump.frame.program.qualified_name(jump.index)}"
    if jump.how == "back":
        count = frame.cursor - jump.index
        return f"Go back to {name}, undoing {count} node{'s' if count != 1 else ''}"
    if jump.how == "run":
        return f"Run on to {name}"
    unset = [f"%{frame.program.nodes[i].name}" for i in unset_by_jump(frame, jump.index)]
    if not unset:
        return f"Skip to {name}"
    rest = f" and {len(unset) - NAMED} more" if len(unset) > NAMED else ""
    return f"Skip to {name}, leaving {', '.join(unset[:NAMED])}{rest} unset"


@serves("goto", When.STOPPED, on_thread=True, moves=True)
def goto(session: Session, arguments: GotoArguments) -> None:
    """Take one of the ways."""
    jump = session.jumps.get(arguments.target_id)
    if jump is None:
        raise RequestError(f"target {arguments.target_id} is unknown or out of date")
    if jump.how == "run":
        _run_to(session, session.debugger.current_thread(), jump)
    else:
        move(session, lambda thread: go_to(thread, jump.frame, jump.index))


def _run_to(session: Session, thread: DebugThread, jump: Jump) -> None:
    if not thread.is_stopped:
        raise RequestError.not_stopped()
    session.released(thread)
    thread.resume(Plan(jump.frame, jump.index, reason="goto"))
