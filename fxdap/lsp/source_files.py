"""Finds the user's files by the short names that listings print: `model.py`, `gpt/model.py`."""

import os
import site
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_SKIPPED = {"node_modules", "__pycache__", "site-packages"}
_MAX_FILES = 50_000
_FRESH = 5.0
_FRESH_INSTALLED = 600.0


class SourceFiles:
    """Python files below some folders, by their last name. Reads folders; call it in a thread."""

    def __init__(self) -> None:
        self._indices: dict[tuple[str, ...], tuple[float, dict[str, list[str]]]] = {}

    def find(
        self, name: str, line: int, code: str, document: str, workspace: list[str], installed: bool
    ) -> Path | None:
        """The one file that a name in a document means, None unless sure.

        Where several have it, the one that has `code` on that line. What is installed beside
        fxdap is searched after the workspace, if at all: reading that takes a second.
        """
        folders = tuple(sorted({*workspace, *_project(document)}))
        found = self._choose(name, line, code, self._index(folders, _FRESH))
        if found is None and os.path.isfile(
            beside := os.path.join(os.path.dirname(document), name)
        ):
            found = Path(beside)
        if found is None and installed:
            found = self._choose(name, line, code, self._index(_installed(), _FRESH_INSTALLED))
        return found

    def _choose(self, name: str, line: int, code: str, index: dict[str, list[str]]) -> Path | None:
        if os.path.isabs(name):
            return Path(name) if os.path.isfile(name) else None
        wanted = f"/{name}"
        candidates = [
            path
            for path in index.get(name.rpartition("/")[2], [])
            if path.replace("\\", "/").endswith(wanted)
        ]
        if code and len(candidates) > 1:
            candidates = [path for path in candidates if _has_code(path, line, code)]
        return Path(candidates[0]) if len(candidates) == 1 else None

    def _index(self, folders: tuple[str, ...], fresh: float) -> dict[str, list[str]]:
        made, index = self._indices.get(folders, (float("-inf"), {}))
        if time.monotonic() - made > fresh:
            index = {}
            for path in _python_files(folders):
                index.setdefault(os.path.basename(path), []).append(path)
            self._indices[folders] = (time.monotonic(), index)
        return index


def _project(document: str) -> list[str]:
    """The folder that a listing was written for, which a client need not have as a workspace."""
    folder, name = os.path.split(os.path.dirname(document))
    project, hidden = os.path.split(folder)
    return [project] if (hidden, name) == (".fxdap", "graphs") else []


def _python_files(folders: Iterable[str]) -> Iterator[str]:
    count = 0
    for top in folders:
        for folder, inner, files in os.walk(top):
            inner[:] = [name for name in inner if not _is_skipped(folder, name)]
            for name in files:
                if name.endswith(".py"):
                    yield os.path.join(folder, name)
                    count += 1
            if count > _MAX_FILES:
                return


def _is_skipped(folder: str, name: str) -> bool:
    if name in _SKIPPED or name.startswith("."):
        return True
    return os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _installed() -> tuple[str, ...]:
    folders = {*site.getsitepackages(), site.getusersitepackages()}
    return tuple(sorted(each for each in folders if each in sys.path))


def _has_code(path: str, line: int, code: str) -> bool:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return False
    text = lines[line - 1].strip() if line <= len(lines) else ""
    return bool(text) and (code.startswith(text[:60]) or text.startswith(code.removesuffix("...")))
