"""Where processes that the adapter started call back, each showing the one-time token."""

import hmac
import secrets
import socket
import threading
from collections.abc import Callable

from msgspec import DecodeError, Struct

from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body
from fxdap.wire.envelope import Event
from fxdap.wire.log import WireLog

_HOST = "127.0.0.1"
_GREETING_S = 10.0
_POLL_S = 0.5


class Hello(Struct, frozen=True, rename="camel"):
    """The body of a caller's first event: the token that it was given, and who it is."""

    token: str
    pid: int


Arrival = Callable[[Connection, Hello], None]


class Rendezvous:
    """A listening socket on loopback for one debuggee, and for its launcher in a terminal.

    Threads: one accepts; each caller is greeted in a thread of its own, where its `arrival` then
    stays to read the connection. So a stranger who keeps silent holds up nobody.
    """

    def __init__(self, arrivals: dict[str, Arrival], log: WireLog | None) -> None:
        self.token = secrets.token_hex(16)
        self._arrivals = arrivals
        self._log = log
        self._lock = threading.Lock()
        self._listener = socket.create_server((_HOST, 0))
        self._listener.settimeout(_POLL_S)
        self._open = True
        threading.Thread(target=self._accept, name="rendezvous", daemon=True).start()

    @property
    def address(self) -> str:
        """HOST:PORT to call."""
        host, port = self._listener.getsockname()[:2]
        return f"{host}:{port}"

    def close(self) -> None:
        """Take no more callers."""
        self._open = False
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:  # not every system wakes the accepting thread so: it looks by itself
            pass

    def _accept(self) -> None:
        with self._listener:
            while self._open:
                try:
                    sock, _ = self._listener.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return
                threading.Thread(
                    target=self._greet, args=(sock,), name="debuggee", daemon=True
                ).start()

    def _greet(self, sock: socket.socket) -> None:
        sock.settimeout(_GREETING_S)
        connection = Connection.over_socket(sock, name="debuggee", log=self._log, strict_start=True)
        message = connection.read()
        arrival, hello = self._recognise(message) if isinstance(message, Event) else (None, None)
        if arrival is None or hello is None:
            connection.close()
            return
        sock.settimeout(None)
        arrival(connection, hello)

    def _recognise(self, event: Event) -> tuple[Arrival | None, Hello | None]:
        try:
            hello = decode_body(Hello, event.body)
        except DecodeError:
            return None, None
        if not hmac.compare_digest(hello.token.encode(), self.token.encode()):
            return None, None
        with self._lock:  # each kind of caller comes once
            return self._arrivals.pop(event.event, None), hello
