"""`python -m fxdap.adapter.python HOST:PORT`: a client's way to debugpy in a debuggee.

debugpy speaks DAP itself. This process adds what it leaves to others: the token that it asks for,
messages numbered in order, and a true end when the debuggee is gone.
"""

import os
import socket
import sys
import threading

from msgspec import Struct

from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import request_spec
from fxdap.wire.envelope import Event, Request, Response
from fxdap.wire.extras import EXTRAS
from fxdap.wire.log import WireLog
from fxdap.wire.messages import DisconnectArguments

_CONNECT_S = 5.0
_USAGE = "usage: FXDAP_TOKEN=... python -m fxdap.adapter.python HOST:PORT"


class Authorize(Struct, frozen=True):
    """debugpy's own request, which must come first."""

    debugServerAccessToken: str


class PythonDoor:
    """Relays between a client and debugpy.

    Threads: one calls `run` and reads the client; one reads debugpy.
    """

    def __init__(self, client: Connection, debugpy: Connection) -> None:
        self._client = client
        self._debugpy = debugpy
        self._asked: dict[int, Request] = {}
        self._left = False

    def run(self, token: str) -> None:
        """Serve the client until one of the two is gone."""
        self._debugpy.request("pydevdAuthorize", Authorize(token))
        threading.Thread(target=self._read_debugpy, name="debugpy", daemon=True).start()
        while (message := self._client.read()) is not None:
            if isinstance(message, Request):
                self._pass_on(message)
        self._leave()

    def _pass_on(self, request: Request) -> None:
        if request_spec(request.command) is None or request.command in EXTRAS:
            # debugpy would leave it unanswered.
            self._client.fail(request, f"request {request.command!r} is not for Python")
            return
        self._left = self._left or request.command == "disconnect"
        self._debugpy.forward(request, told=lambda seq: self._asked.__setitem__(seq, request))

    def _leave(self) -> None:
        """A client that goes without a word must leave nothing stopped behind."""
        if not self._left:
            self._debugpy.request("disconnect", DisconnectArguments(terminate_debuggee=False))
        self._debugpy.finish_sending()

    def _read_debugpy(self) -> None:
        while (message := self._debugpy.read()) is not None:
            if isinstance(message, Event):
                self._client.forward(message)
            elif isinstance(message, Response):
                self._answer(message)
        if not self._left:
            self._client.send_event("terminated")
        self._client.finish_sending()
        os._exit(0)

    def _answer(self, response: Response) -> None:
        asked = self._asked.pop(response.request_seq, None)
        if asked is None:
            return
        self._client.forward(response, request_seq=asked.seq)
        if asked.command == "disconnect":
            self._debugpy.close()


def main(arguments: list[str]) -> int:
    """Connect, then relay between the standard streams and debugpy."""
    host, _, port = (arguments or [""])[0].rpartition(":")
    if len(arguments) != 1 or not port.isdigit():
        print(_USAGE, file=sys.stderr)
        return 2
    token = os.environ.pop("FXDAP_TOKEN", "")
    log = WireLog.from_environment("python")
    try:
        sock = socket.create_connection((host or "127.0.0.1", int(port)), timeout=_CONNECT_S)
    except OSError as error:
        print(f"nothing to attach to at {host}:{port} ({error})", file=sys.stderr)
        return 1
    sock.settimeout(None)
    client = Connection.over_stdio(log=log)
    PythonDoor(client, Connection.over_socket(sock, name="debugpy", log=log)).run(token)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
