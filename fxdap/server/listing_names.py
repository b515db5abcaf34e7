"""Which node a line of a listing means to the client."""

from pathlib import Path

from fxdap.engine.sourcelines import real_path
from fxdap.view.listing_text import names_by_line


class ListingNames:
    """Names by line, of listings as they are and as they were.

    A client remembers breakpoints by line. When a launch finds the graph changed and writes its
    listing anew, the first lines that the client sends are still those of the old text. Written
    by user threads and read by the server thread; single dict operations.
    """

    def __init__(self) -> None:
        self._before: dict[str, dict[int, str]] = {}

    def replaced(self, path: Path, text: str) -> None:
        """A listing was written anew; `text` is what the file held."""
        self._before[real_path(str(path))] = names_by_line(text)

    def remembered(self, path: str) -> dict[int, str]:
        """Node names by the lines that the client remembers from before this session."""
        before = self._before.pop(real_path(path), None)
        return current_names(path) if before is None else before


def current_names(path: str) -> dict[int, str]:
    """Node names by line of the file as it is; none if it cannot be read."""
    try:
        return names_by_line(Path(path).read_text())
    except (OSError, UnicodeDecodeError):
        return {}
