"""Telling the program to end, in its own way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from fxdap.engine.frame import Frame
from fxdap.engine.interrupts import interrupt_program
from fxdap.engine.own_threads import exempt
from fxdap.engine.thread import Abandoned, DebugThread

if TYPE_CHECKING:
    from fxdap.server.session import Session

_NODE_S = 1.0
"""For a node to end after the program was told to, before it is unwound from within."""


class Termination:
    """Unwinds what runs, so that `finally` blocks run: graphs at a node, else as Ctrl-C does."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._program_ended = False

    def begin(self) -> None:
        """The client wants the program to end."""
        session, debugger = self._session, self._session.debugger
        session.launched.put(None)
        session.configured.set()
        tops = {thread: top for thread in debugger.threads() if (top := thread.top) is not None}
        _hide_unwinding()
        debugger.abandon()
        for thread, frame in tops.items():
            late = exempt(threading.Timer(_NODE_S, self._insist, [thread, frame]))
            late.daemon = True
            late.start()
        session.python.let_go()
        if not any(thread.is_main for thread in tops):
            self._interrupt()

    def program_ended(self) -> None:
        """The main thread has left the user's program: it is not to be interrupted any more."""
        with self._lock:
            self._program_ended = True

    def _insist(self, thread: DebugThread, frame: Frame) -> None:
        """The thread may still be in the node, or have left its graph before it was unwound."""
        thread.abandon_node(frame)
        if thread.is_main and not thread.unwound and not thread.frames:
            self._interrupt()

    def _interrupt(self) -> None:
        with self._lock:
            if not self._program_ended:
                interrupt_program()


def _hide_unwinding() -> None:
    """Python would report what unwinds a thread as an error of the user's."""
    report = threading.excepthook

    def hook(error: threading.ExceptHookArgs) -> None:
        if error.exc_type is not Abandoned:
            report(error)

    threading.excepthook = hook
