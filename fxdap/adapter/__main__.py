"""`python -m fxdap.adapter`: serve one client on stdio; with `--port N`, many over TCP."""

import sys
import threading

from fxdap.adapter.ending import Ending
from fxdap.adapter.session import Session
from fxdap.wire.connection import Connection
from fxdap.wire.log import WireLog


def main(arguments: list[str]) -> int:
    """Serve; whatever ends this process, short of SIGKILL, leaves nothing running."""
    if arguments:
        from fxdap.adapter.listen import listen

        return listen(arguments)
    return serve_stdio()


def serve_stdio() -> int:
    """Serve the one client that started this process."""
    ending = Ending()
    connection = Connection.over_stdio(log=WireLog.from_environment("adapter"))
    session = Session(connection, ending.end)
    threading.Thread(target=session.run, name="client", daemon=True).start()
    code = ending.wait()
    session.abort()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
