"""What is wrong with the user's code, beside the error that it ended in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxdap.engine.frame import Frame
from fxdap.engine.thread import DebugThread

if TYPE_CHECKING:
    from fxdap.graphs.diagnosis import Diagnosis


class Diagnoses:
    """Diagnoses errors at stops and at the program's end.

    torch rewrites an error's arguments once it leaves the node, and a KeyError's missing Node with
    them, so what was found at the stop is kept. The error itself is not: it holds tensors.
    """

    def __init__(self) -> None:
        self._last: tuple[int, type[BaseException], str, Diagnosis] | None = None

    def at_stop(self, thread: DebugThread) -> Diagnosis | None:
        """What is known of the exception a thread is stopped on."""
        error = thread.stop.exception if thread.stop is not None else None
        if error is None:
            return None
        found = _diagnose(error, thread.top)
        if found is not None:
            self._last = id(error), type(error), _text(error), found
        return found

    def at_end(self, error: BaseException) -> Diagnosis | None:
        """What is known of an exception that nothing caught."""
        return self._told(error) or _diagnose(error)

    def _told(self, error: BaseException | None) -> Diagnosis | None:
        if error is None or self._last is None:
            return None
        ident, cls, text, found = self._last
        if id(error) == ident and type(error) is cls and _text(error).startswith(text):
            return found
        return self._told(error.__cause__)


def _diagnose(error: BaseException, frame: Frame | None = None) -> Diagnosis | None:
    # Most sessions meet no error, and all wait for what is imported at their start.
    from fxdap.graphs.diagnosis import diagnose

    return diagnose(error, frame)


def _text(error: BaseException) -> str:
    return str(error.args[0]) if error.args else ""
