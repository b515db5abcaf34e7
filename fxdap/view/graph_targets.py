"""Finding what can be debugged in a folder, without running it. Needs no torch."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fxdap.view.python_targets import python_targets

SKIPPED = {"node_modules", "site-packages", "__pycache__", "build", "dist"}
FILE_LIMIT = 5000
SIZE_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """A graph as a launch configuration names it, relative to the folder: `net.py:Net`."""

    graph: str
    name: str
    kind: str
    line: int = 0
    """Where it is defined, 0 in a file without lines."""


def graph_targets(folder: Path) -> Iterator[GraphTarget]:
    """`.pt2` files, and what Python files with `example_inputs` define, by path."""
    for path in _files(folder):
        place = path.relative_to(folder).as_posix()
        if path.suffix == ".pt2":
            yield GraphTarget(place, path.stem, "exported program")
            continue
        for found in python_targets(_text(path)):
            yield GraphTarget(f"{place}:{found.name}", found.name, found.kind, found.line)


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
