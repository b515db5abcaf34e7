"""Progress of something that takes long, for clients that show it, with Cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from time import monotonic

from fxdap.engine.interrupts import interrupt_thread
from fxdap.wire.connection import Connection
from fxdap.wire.messages import (
    ProgressEndEventBody,
    ProgressStartEventBody,
    ProgressUpdateEventBody,
)

PATIENCE_S = 0.5
"""How long work takes before it is worth showing, and between two updates."""


class Progress:
    """Running progresses by id. `cancel` comes from the reader thread, the rest from any."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ids = count(1)
        self._lock = threading.Lock()
        self._running: dict[str, Callable[[], None] | None] = {}
        self.shown = False
        """Whether the client supports progress reporting."""

    def begin(self, title: str, cancel: Callable[[], None] | None) -> str:
        """Show that something is going on; `cancel` is what the client's Cancel does, if it can."""
        ident = f"fxdap-{next(self._ids)}"
        with self._lock:
            self._running[ident] = cancel
        if self.shown:
            body = ProgressStartEventBody(
                progress_id=ident, title=title, cancellable=cancel is not None
            )
            self._connection.send_event("progressStart", body)
        return ident

    def tell(self, ident: str, message: str, done: float) -> None:
        """Show how far it is; `done` is the part of 1."""
        if self.shown:
            share = round(100 * min(max(done, 0.0), 1.0), 1)
            body = ProgressUpdateEventBody(progress_id=ident, message=message, percentage=share)
            self._connection.send_event("progressUpdate", body)

    def end(self, ident: str) -> None:
        """It is over. After this `cancel` is not called."""
        with self._lock:
            self._running.pop(ident, None)
        if self.shown:
            self._connection.send_event("progressEnd", ProgressEndEventBody(progress_id=ident))

    @contextmanager
    def show(self, title: str, *, cancellable: bool = True) -> Iterator[None]:
        """Report that the work in the `with` block is going on. Cancelled, it raises
        KeyboardInterrupt there.
        """
        mine = threading.get_ident()
        interrupt = partial(interrupt_thread, mine)
        ident = self.begin(title, interrupt if cancellable else None)
        try:
            yield
        finally:
            self.end(ident)

    def cancel(self, ident: str) -> None:
        """Do what cancels the work; a progress that is over is ignored."""
        with self._lock:
            cancel = self._running.pop(ident, None)
            if cancel is not None:
                cancel()


class Work:
    """Work that asks, step after step, whether it is still wanted; shown once it takes long."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._due = monotonic() + PATIENCE_S
        self._total: int | None = None
        self._ident: str | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """It is no longer wanted."""
        self._cancelled = True

    def wanted(self, left: int) -> bool:
        """Whether to go on with what is left, a number of steps."""
        if self._total is None:
            self._total = left
        if monotonic() > self._due:
            self._due = monotonic() + PATIENCE_S
            if self._ident is None:
                self._ident = self._progress.begin(self._title, self.cancel)
            done = 1 - left / max(self._total, 1)
            self._progress.tell(self._ident, f"{left} nodes left", done)
        return not self._cancelled

    def end(self) -> None:
        """It is done, or given up."""
        if self._ident is not None:
            self._progress.end(self._ident)
