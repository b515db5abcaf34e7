"""Where listings live on disk, so that breakpoints in them survive and any editor opens them."""

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from fxdap.view.listing import Listing

_MAX_NAME = 100

Replaced = Callable[[Path, str], None]
"""Told the path and the old text of a listing whose text has changed."""


def write_listing(
    listing: Listing,
    name: str,
    workspace: Path | None = None,
    replaced: Replaced | None = None,
) -> Path:
    """Write the listing as `<name>.fxgraph` and return its path; unchanged text writes nothing.

    It goes to `<workspace>/.fxdap/graphs`, or to the user's cache directory when there is no
    workspace or it cannot be written.
    """
    content = listing.text.encode("utf-8", "backslashreplace")
    file_name = f"{_safe_name(name)}.fxgraph"
    if workspace is not None:
        try:
            return _write(content, workspace / ".fxdap", file_name, replaced)
        except OSError:
            pass
    return _write(content, _cache_directory(), file_name, replaced)


def _write(content: bytes, directory: Path, file_name: str, replaced: Replaced | None) -> Path:
    graphs = directory / "graphs"
    graphs.mkdir(parents=True, exist_ok=True)
    _replace_if_changed(directory / ".gitignore", b"*\n")
    path = graphs / file_name
    before = _replace_if_changed(path, content)
    if before is not None and replaced is not None:
        replaced(path, before.decode("utf-8", "replace"))
    return path


def _replace_if_changed(path: Path, content: bytes) -> bytes | None:
    """The content that was there before, if there was another one."""
    before = None
    try:
        before = path.read_bytes()
        if before == content:
            return None
    except OSError:
        pass
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return before


def _safe_name(name: str) -> str:
    """A file name for a graph; names that had to change get a hash, so that none collide."""
    safe = re.sub(r"[^\w.-]", "_", name).strip(".")[:_MAX_NAME]
    if safe == name and safe:
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{safe or 'graph'}-{digest}"


def _cache_directory() -> Path:
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "fxdap"
