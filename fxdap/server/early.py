"""Requests to go on that come while the step before them is still under way."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fxdap.engine.thread import DebugThread
from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import ContinueResponseBody


class EarlyRequests:
    """Holds what a user asked for by pressing keys faster than nodes run: F10, F11.

    They meant it from where the step lands, so it waits for that. When something else stops the
    thread first, they have not seen that yet: the request is answered, and the thread stays there.
    """

    def __init__(self, connection: Connection, serve: Callable[[Request], None]) -> None:
        self._connection = connection
        self._serve = serve
        self._held: dict[int, list[Request]] = {}
        self._lock = threading.Lock()

    def hold(self, request: Request, thread: DebugThread | None) -> bool:
        """Keep the request if the thread is on its way to where a step lands."""
        with self._lock:
            if thread is None or thread.is_stopped or not thread.is_stepping:
                return False
            self._held.setdefault(thread.id, []).append(request)
            return True

    def overtaken(self, thread: DebugThread) -> None:
        """The thread stopped, and its stop is not announced yet."""
        if not thread.stepped:
            for request in self._take(thread.id):
                continues = request.command == "continue"
                self._connection.respond(request, ContinueResponseBody() if continues else None)

    def landed(self, thread: DebugThread) -> None:
        """The thread's stop is announced."""
        for request in self._take(thread.id):
            self._serve(request)

    def fail(self) -> None:
        """The session is over."""
        for ident in list(self._held):
            for request in self._take(ident):
                self._connection.fail(request, RequestError.not_stopped())

    def _take(self, ident: int) -> list[Request]:
        with self._lock:
            return self._held.pop(ident, [])
