"""Progress of something that takes long, for clients that show it, with Cancel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from fxdap.engine.thread import raise_in_thread
from fxdap.wire.connection import Connection
from fxdap.wire.messages import ProgressEndEventBody, ProgressStartEventBody


class Progress:
    """Running progresses by id. One is begun and ended by the thread that does the work;
    `cancel` comes from the reader thread and raises KeyboardInterrupt there.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ids = count(1)
        self._lock = threading.Lock()
        self._running: dict[str, int] = {}
        self.shown = False
        """Whether the client supports progress reporting."""

    @contextmanager
    def show(self, title: str) -> Iterator[None]:
        """Report that the work in the `with` block is going on. Cancelled, it raises
        KeyboardInterrupt.
        """
        ident = f"fxdap-{next(self._ids)}"
        with self._lock:
            self._running[ident] = threading.get_ident()
        if self.shown:
            self._connection.send_event(
                "progressStart",
                ProgressStartEventBody(progress_id=ident, title=title, cancellable=True),
            )
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(ident, None)
            if self.shown:
                self._connection.send_event("progressEnd", ProgressEndEventBody(progress_id=ident))

    def cancel(self, ident: str) -> None:
        """Interrupt the work; a progress that is over is ignored."""
        with self._lock:
            thread = self._running.pop(ident, None)
            if thread is not None:
                raise_in_thread(thread, KeyboardInterrupt)
