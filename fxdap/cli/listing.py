"""`fxdap list`: the listing of a graph, as the debugger will show it."""

import json
import sys
from pathlib import Path


def list_graph(
    target: str, output: Path | None, inputs: str | None, capture: str, as_json: bool = False
) -> int:
    """Write the listing where the debugger looks for it, and print it; or write `output`.

    For editors the last line printed is one JSON object that says where the listing is.
    """
    from fxdap.graphs.errors import TargetError
    from fxdap.graphs.target import load_target
    from fxdap.view.listing import build_listing
    from fxdap.view.listing_file import write_listing

    try:
        loaded = load_target(target, inputs=inputs, capture=capture)
    except TargetError as error:
        print(f"fxdap: {error}", file=sys.stderr)
        return 2
    listing = build_listing(loaded.module, title=loaded.name)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(listing.text, encoding="utf-8")
        written = output
    else:
        written = write_listing(listing, loaded.name, Path.cwd())
        if not as_json:
            sys.stdout.write(listing.text)
    if as_json:
        nodes = len(listing.lines)
        print(json.dumps({"listing": str(written), "nodes": nodes, "how": loaded.how}))
    print(f"fxdap: {len(listing.lines)} nodes in {written} ({loaded.how})", file=sys.stderr)
    return 0
