"""The listening socket of a process that was opened with `fxdap.listen`."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

from fxdap.engine.debugger import Debugger
from fxdap.engine.own_threads import exempt
from fxdap.graphs.runs import GraphRuns
from fxdap.server.session import Session
from fxdap.wire.connection import Connection
from fxdap.wire.log import WireLog


class Host:
    """Gives each client a session; one at a time may attach.

    One daemon thread accepts. A client that leaves frees the place for the next. `_lock` guards
    who is attached.
    """

    def __init__(self, host: str, port: int, token: str) -> None:
        self._socket = socket.create_server((host, port))
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self.token = token
        self.session: Session | None = None
        self._owner: Session | None = None
        self._waiting: tuple[Debugger, GraphRuns] | None = None
        """What a client that left paused, for the next one."""
        self._lock = threading.Lock()
        self._attached = threading.Event()
        exempt(threading.Thread(target=self._accept, name="fxdap-listener", daemon=True)).start()

    def wait(self, timeout: float | None) -> bool:
        """Wait for a client that has attached and configured its breakpoints."""
        return self._attached.wait(timeout)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._socket.accept()
            except OSError:
                return
            self._begin(sock)

    def _begin(self, sock: socket.socket) -> None:
        connection = Connection.over_socket(
            sock, name="client", log=WireLog.from_environment("debuggee"), strict_start=True
        )
        session = Session(connection, on_end=lambda: self._left(session))
        session.token = self.token
        session.python.client.host = sock.getsockname()[0]
        session.debugger.options.script = Path(sys.argv[0]).stem
        session.exit_process = os._exit
        session.claim = lambda: self._claim(session)
        session.on_attached = lambda: self._opened(session)
        session.on_detached = lambda: self._detached(session)
        session.on_suspended = self._paused
        session.suspended = self._take_paused
        session.start()

    def _claim(self, session: Session) -> bool:
        with self._lock:
            self._owner = self._owner or session
            return self._owner is session

    def _opened(self, session: Session) -> None:
        self.session = session
        self._attached.set()

    def _paused(self, debugger: Debugger, runs: GraphRuns) -> None:
        with self._lock:
            self._waiting = debugger, runs

    def _take_paused(self) -> tuple[Debugger, GraphRuns] | None:
        with self._lock:
            waiting, self._waiting = self._waiting, None
            return waiting

    def _left(self, session: Session) -> None:
        session.end()
        session.connection.close()

    def _detached(self, session: Session) -> None:
        with self._lock:
            if self._owner is session:
                self._owner = self.session = None
                self._attached.clear()
