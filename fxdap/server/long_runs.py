"""Progress of graphs that run long; its Cancel pauses them."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from fxdap.engine.current_frames import current_frames
from fxdap.engine.frame import Frame
from fxdap.engine.own_threads import exempt
from fxdap.engine.thread import DebugThread

if TYPE_CHECKING:
    from fxdap.server.session import Session

LOOK_S = 0.5
LONG_S = 2.0
"""How long one run goes on, without a stop, before it is shown."""


@dataclass
class _Run:
    """What a thread was seen to run: the same frame, not stopped since `began`."""

    frame: weakref.ref[Frame]
    stops: int
    began: float
    ident: str | None = None


class LongRuns:
    """A thread of its own looks twice a second at what runs, for clients that show progress.

    `stopped` comes from user threads; `_lock` guards what is shown.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs: dict[int, _Run] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()

    def begin(self) -> None:
        """Look from now on, if the client shows progress."""
        if self._session.progress.shown:
            exempt(threading.Thread(target=self._watch, name="fxdap-runs", daemon=True)).start()

    def end(self) -> None:
        """The session is over."""
        self._over.set()

    def stopped(self, thread: DebugThread) -> None:
        """What the thread runs goes on no more for now."""
        with self._lock:
            self._forget(thread.id)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            threads = self._session.debugger.threads()
            with self._lock:
                for gone in self._runs.keys() - {thread.id for thread in threads}:
                    self._forget(gone)
                for thread in threads:
                    self._look(thread)

    def _look(self, thread: DebugThread) -> None:
        frames = list(thread.frames)
        if not frames or thread.stop is not None:
            self._forget(thread.id)
            return
        run = self._runs.get(thread.id)
        if run is None or run.frame() is not frames[0] or run.stops != thread.stop_count:
            self._forget(thread.id)
            run = _Run(weakref.ref(frames[0]), thread.stop_count, monotonic())
            self._runs[thread.id] = run
        elif monotonic() - run.began >= LONG_S:
            self._show(thread, frames[0], run)

    def _show(self, thread: DebugThread, frame: Frame, run: _Run) -> None:
        progress, program = self._session.progress, frame.program
        if run.ident is None:
            run.ident = progress.begin(f"Running {program.name}", thread.pause)
        index = frame.index_in(current_frames().get(thread.native_id))
        message = f"%{program.nodes[index].name}, {index} of {len(program)}"
        progress.tell(run.ident, message, index / len(program))

    def _forget(self, ident: int) -> None:
        run = self._runs.pop(ident, None)
        if run is not None and run.ident is not None:
            self._session.progress.end(run.ident)
