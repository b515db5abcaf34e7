"""`python -m fxdap.adapter`: serve one client on stdio; with `--port N`, many over TCP."""

import signal
import sys
import threading

from fxdap.adapter.session import Session
from fxdap.wire.connection import Connection
from fxdap.wire.log import WireLog


def main(arguments: list[str]) -> int:
    """Serve, and leave nothing running whatever ends this process, short of SIGKILL."""
    if arguments:
        from fxdap.adapter.listen import listen

        return listen(arguments)
    return serve_stdio()


def serve_stdio() -> int:
    """Serve the one client that started this process."""
    finished = threading.Event()
    connection = Connection.over_stdio(log=WireLog.from_environment("adapter"))
    session = Session(connection, finished.set)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=session.run, name="client", daemon=True).start()
    try:
        finished.wait()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        session.abort()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
