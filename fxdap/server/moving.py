"""Taking a stopped thread to another place of its run, for the requests that do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fxdap.engine.history import PastGoneError
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from fxdap.wire.errors import RequestError

if TYPE_CHECKING:
    from fxdap.server.session import Session


def move(
    session: Session, make: Callable[[DebugThread], Travel], *, reserved: bool = False
) -> None:
    """Restore another state on the stopped thread, which is the calling one, and go there.

    What cannot be undone is said before the stop. `reserved`: requests that come meanwhile wait.
    """
    thread = session.debugger.current_thread()
    if not reserved and not thread.is_stopped:
        raise RequestError.not_stopped()
    try:
        travel = make(thread)
    except PastGoneError as error:
        raise RequestError(f"cannot go there: {error}", show_user=True) from None
    # A restored tensor has its old version again, which is what its row was kept by.
    session.presenter.clear()
    session.released(thread)
    if travel.stop.text:
        session.events.say(travel.stop.text, "important")
    thread.go_to(travel)
