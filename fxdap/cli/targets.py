"""`fxdap targets`: what can be debugged in a folder, for people and for editors."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fxdap.view.python_targets import python_targets

SKIPPED = {"node_modules", "site-packages", "__pycache__", "build", "dist"}
FILE_LIMIT = 5000
SIZE_LIMIT = 1_000_000


def list_targets(folder: Path, as_json: bool) -> int:
    """Print the graph targets of a folder, one a line; as JSON, one object a line."""
    for target in _targets(folder):
        if as_json:
            print(json.dumps(target))
        else:
            print(f"{target['graph']}  ({target['kind']})")
    return 0


def _targets(folder: Path) -> Iterator[dict[str, Any]]:
    for path in _files(folder):
        place = path.relative_to(folder).as_posix()
        if path.suffix == ".pt2":
            yield {"graph": place, "name": path.stem, "kind": "exported program"}
            continue
        for found in python_targets(_text(path)):
            graph = f"{place}:{found.name}"
            yield {"graph": graph, "name": found.name, "kind": found.kind, "line": found.line}


def _files(folder: Path) -> Iterator[Path]:
    """Python and .pt2 files, without hidden folders, environments and caches."""
    seen = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if _is_searched(Path(parent, f)))
        for name in sorted(names):
            if name.endswith((".py", ".pt2")):
                seen += 1
                if seen > FILE_LIMIT:
                    return
                yield Path(parent, name)


def _is_searched(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in SKIPPED
    return not hidden and not (folder / "pyvenv.cfg").exists()


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            return ""
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return text if "example_inputs" in text else ""
