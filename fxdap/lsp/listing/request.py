"""What every handler begins with: the listing, and the place in it that a request names."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from fxdap.lsp.documents import Columns
from fxdap.lsp.listing.line import Use
from fxdap.lsp.listing.model import Listing, Node

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


class Request:
    """A request about one listing."""

    def __init__(self, server: "Server", uri: str) -> None:
        self.server = server
        self.uri = uri
        self.listing: Listing = server.listings.get(server.workspace, uri)
        self.columns = Columns(self.listing.lines, server.workspace.position_codec)

    def definition_range(self, node: Node) -> types.Range:
        """Where a node's name is, in the line that defines it."""
        return self.columns.range(node.line, node.text.start, node.text.end)

    def line_range(self, line: int) -> types.Range:
        """A line without its indentation."""
        text = self.listing.lines[line]
        return self.columns.range(line, len(text) - len(text.lstrip()), len(text))

    def use_range(self, line: int, use: Use) -> types.Range:
        return self.columns.range(line, use.start, use.end)

    def location(self, node: Node) -> types.Location:
        return types.Location(self.uri, self.definition_range(node))


class PositionRequest(Request):
    """A request about a position in a listing."""

    def __init__(self, server: "Server", params: Any) -> None:
        super().__init__(server, params.text_document.uri)
        self.line, self.column = self.columns.locate(params.position)

    @property
    def named(self) -> tuple[Node, Use | None] | None:
        """The node that the position names, and the use if it stands among arguments."""
        return self.listing.at(self.line, self.column)
