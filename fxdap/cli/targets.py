"""`fxdap targets`: what can be debugged in a folder, for people and for scripts."""

import json
from dataclasses import asdict
from pathlib import Path

from fxdap.view.graph_targets import graph_targets


def list_targets(folder: Path, as_json: bool) -> int:
    """Print the graph targets of a folder, one a line; as JSON, one object a line."""
    for target in graph_targets(folder):
        if as_json:
            print(json.dumps({key: value for key, value in asdict(target).items() if value}))
        else:
            print(f"{target.graph}  ({target.kind})")
    return 0
