"""`python -m fxdap.server --connect HOST:PORT`: the debuggee, started by the adapter."""

import gc
import os
import socket
import sys
import threading

from msgspec import Struct

from fxdap.wire.connection import Connection
from fxdap.wire.log import WireLog


class Hello(Struct, frozen=True, kw_only=True):
    """The first message to the adapter: proves that this process was started by it."""

    token: str
    pid: int


def main(argv: list[str]) -> int:
    """Connect back to the adapter, then serve it and run the user's program."""
    if len(argv) != 2 or argv[0] != "--connect":
        print("usage: python -m fxdap.server --connect HOST:PORT", file=sys.stderr)
        return 2
    host, _, port = argv[1].rpartition(":")
    _die_with_parent()
    sock = socket.create_connection((host, int(port)))
    connection = Connection.over_socket(
        sock, name="adapter", log=WireLog.from_environment("debuggee")
    )
    token = os.environ.pop("FXDAP_TOKEN", "")
    connection.send_event("fxdapHello", Hello(token=token, pid=os.getpid()))
    return _debug(connection)


def _debug(connection: Connection) -> int:
    # Importing torch takes seconds; the adapter already knows that this process is alive. Looking
    # for garbage meanwhile finds none, and is a tenth of that; so is looking through all that was
    # imported while a graph is captured. `Runner` unfreezes it after that.
    gc.disable()
    from fxdap.server.runner import Runner
    from fxdap.server.session import Session

    gc.freeze()
    gc.enable()

    def client_gone() -> None:
        if not session.left_running:
            os._exit(1)

    session = Session(connection, on_end=client_gone)
    session.exit_process = os._exit
    session.start()
    code = Runner(session).main()
    _await_threads()
    session.finish()
    return code


def _await_threads() -> None:
    """The user's other threads may still run graphs; the interpreter waits for them too."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _die_with_parent() -> None:
    """Ask Linux to end this process if the adapter is killed before it can do so itself."""
    if sys.platform != "linux" or os.environ.get("FXDAP_TERMINAL"):
        return
    import ctypes
    import signal

    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
