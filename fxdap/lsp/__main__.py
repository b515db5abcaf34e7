"""`python -m fxdap.lsp`: serve one client on stdio; with `--port N` on a loopback port."""

import argparse
import gc
import sys

from fxdap.lsp.server import Server


def main(arguments: list[str] | None = None) -> int:
    """Serve until the client leaves."""
    parser = argparse.ArgumentParser(prog="python -m fxdap.lsp", description=__doc__)
    parser.add_argument("--port", type=int, metavar="N", help="listen there instead of on stdio")
    # Editors pass this to say what is the default here.
    parser.add_argument("--stdio", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    # A parsed listing is many small objects that stay: looking through them again and again
    # would take as long as parsing.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    if options.port is not None:
        Server().start_tcp("127.0.0.1", options.port)
    else:
        Server().start_io()
    return 0


if __name__ == "__main__":
    sys.exit(main())
