"""What every handler begins with: the Python file, and places in it as the client counts."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.documents import Columns
from fxdap.lsp.python.file import PythonFile
from fxdap.lsp.python.source import Place

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


class Request:
    """A request about one Python document."""

    def __init__(self, server: "Server", uri: str) -> None:
        self.uri = uri
        self.file: PythonFile = server.python_files.get(server.workspace, uri)
        self.columns = Columns(self.file.lines, server.workspace.position_codec)

    def range(self, place: Place) -> types.Range:
        """A place as LSP has it; it may go over several lines."""
        return types.Range(
            self.columns.position(place.line, place.column),
            self.columns.position(place.end_line, place.end_column),
        )
