"""A debuggee that was running before: a process that called `fxdap.listen`."""

import socket
import threading

from fxdap.adapter.debuggee import Debuggee
from fxdap.wire.configuration import Address
from fxdap.wire.connection import Connection
from fxdap.wire.log import WireLog

_CONNECT_S = 5.0
_ANSWER_S = 10.0


class Attachment:
    """Connects to the process; it is never killed, only let go.

    Threads: the *debuggee* thread connects, and stays to read. A timer gives up on what listens
    there without answering.
    """

    owned = False

    def __init__(self, address: Address, debuggee: Debuggee, log: WireLog | None) -> None:
        self._address = address
        self._debuggee = debuggee
        self._log = log
        debuggee.take_origin(self)
        threading.Thread(target=self._connect, name="debuggee", daemon=True).start()

    def kill(self) -> None:
        """Nothing to do: closing the connection lets the process go on without a debugger."""

    def drain(self) -> None:
        """What the process prints is not ours."""

    def _connect(self) -> None:
        host, port = self._address.host, self._address.port
        try:
            sock = socket.create_connection((host, port), timeout=_CONNECT_S)
        except OSError as error:
            self._debuggee.end(None, _refused(host, port, error))
            return
        sock.settimeout(None)
        patience = threading.Timer(_ANSWER_S, self._give_up)
        patience.daemon = True
        patience.start()
        self._debuggee.serve(Connection.over_socket(sock, name="debuggee", log=self._log))

    def _give_up(self) -> None:
        if not self._debuggee.ready:
            self._debuggee.kill()


def _refused(host: str, port: int, error: OSError) -> str:
    return (
        f"nothing to attach to at {host}:{port} ({error.strerror or error}); "
        f"call fxdap.listen(({host!r}, {port})) in the process first, or correct 'connect'"
    )
