"""The adapter as a server: one session for each connection, one after the other or side by side."""

import argparse
import socket
import sys
import threading

from fxdap.adapter.ending import Ending
from fxdap.adapter.peer import is_same_user
from fxdap.adapter.session import Session
from fxdap.wire.connection import Connection
from fxdap.wire.log import WireLog

_HOST = "127.0.0.1"
_CLOSING_S = 1.0


def listen(arguments: list[str]) -> int:
    """Serve until a signal ends this process."""
    port = _parse(arguments)
    ending = Ending()
    try:
        server = Server(port)
    except OSError as error:
        print(f"cannot listen on {_HOST}:{port}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"listening on {_HOST}:{server.port}", file=sys.stderr, flush=True)
    code = ending.wait()
    server.abort()
    return code


class Server:
    """Accepts clients of the same user on loopback; who speaks no DAP is turned away.

    Threads: the *listener* accepts; each session has its client thread.
    """

    def __init__(self, port: int) -> None:
        self._listener = socket.create_server((_HOST, port))
        self.port: int = self._listener.getsockname()[1]
        self._log = WireLog.from_environment("adapter")
        self._lock = threading.Lock()
        self._sessions: set[Session] = set()
        threading.Thread(target=self._accept, name="listener", daemon=True).start()

    def abort(self) -> None:
        """End all sessions and their processes."""
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.abort()

    def _accept(self) -> None:
        while True:
            sock, _ = self._listener.accept()
            if not is_same_user(sock):  # a client can run any code as this user
                sock.close()
                continue
            threading.Thread(target=self._serve, args=(sock,), name="client", daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        connection = Connection.over_socket(sock, name="client", log=self._log, strict_start=True)

        def close_soon() -> None:
            # The client closes first, so that nothing that was sent to it gets lost.
            closing = threading.Timer(_CLOSING_S, connection.close)
            closing.daemon = True
            closing.start()

        session = Session(connection, close_soon)
        with self._lock:
            self._sessions.add(session)
        session.run()
        connection.close()
        with self._lock:
            self._sessions.discard(session)


def _parse(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m fxdap.adapter", description=__doc__)
    parser.add_argument(
        "--port", type=int, required=True, help="listen there on loopback; 0 picks a free one"
    )
    options = parser.parse_args(arguments)
    port: int = options.port
    if not 0 <= port < 65536:
        parser.error(f"--port {port} is no port")
    return port
