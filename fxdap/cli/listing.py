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
    places: list[str] = []
    nodes = 0
    for name, graph in loaded.graphs.items():
        listing = build_listing(graph, title=name)
        nodes += len(listing.lines)
        if output is not None:
            written = output if not places else output.with_name(f"{name}{output.suffix}")
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(listing.text, encoding="utf-8")
        else:
            written = write_listing(listing, name, Path.cwd())
            if not as_json:
                sys.stdout.write(listing.text)
        places.append(str(written))
    if as_json:
        answer = {"listing": places[0], "nodes": nodes, "how": loaded.how}
        print(json.dumps(answer | ({"more": places[1:]} if places[1:] else {})))
    print(f"fxdap: {nodes} nodes in {', '.join(places)} ({loaded.how})", file=sys.stderr)
    return 0
