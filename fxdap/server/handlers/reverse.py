"""stepBack, reverseContinue, restartFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxdap.engine.moves import restart, step_back, step_back_line
from fxdap.engine.reverse import reverse_continue
from fxdap.server.moving import move
from fxdap.server.progress import Work
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    RestartFrameArguments,
    ReverseContinueArguments,
    StepBackArguments,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves(
    "stepBack",
    When.LANDED,
    on_thread=True,
    moves=True,
    offers=Capabilities(supports_step_back=True),
)
def step_back_(session: Session, arguments: StepBackArguments) -> None:
    """Undo the node that ran last, or the user's last change; or a line of their source."""
    back = step_back_line if arguments.granularity == "line" else step_back
    move(session, back, reserved=True)


@serves("reverseContinue", When.LANDED, on_thread=True, moves=True)
def reverse_continue_(session: Session, arguments: ReverseContinueArguments) -> None:
    """Back to the previous stop that would have been hit, else to where the run began.

    On the way it can be cancelled, by its progress or its request: it stops where it is then.
    """
    ident = session.debugger.current_thread().id
    work = session.work[ident] = Work(session.progress, "Going back")
    try:
        move(session, lambda thread: reverse_continue(thread, work.wanted), reserved=True)
    finally:
        work.end()
        del session.work[ident]


@serves(
    "restartFrame",
    When.STOPPED,
    on_thread=True,
    moves=True,
    offers=Capabilities(supports_restart_frame=True),
)
def restart_frame(session: Session, arguments: RestartFrameArguments) -> None:
    """The graph again from its first node, with everything as it was at its entry."""
    frame = session.frame_view(arguments.frame_id).frame
    if frame is None:
        raise RequestError("this frame runs Python code, not a graph: it cannot be restarted")
    move(session, lambda thread: restart(thread, frame))
