"""Where a node is defined and used: references and highlights."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.request import PositionRequest

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


def references(server: "Server", params: types.ReferenceParams) -> list[types.Location]:
    """Every argument that reads the node, after its definition if that is wanted."""
    request = PositionRequest(server, params)
    named = request.named
    if named is None:
        return []
    node, _ = named
    found = [request.location(node)] if params.context.include_declaration else []
    for line, use in request.listing.uses_of(node):
        found.append(types.Location(request.uri, request.use_range(line, use)))
    return found


def highlight(
    server: "Server", params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """The definition as written, the uses as read."""
    request = PositionRequest(server, params)
    named = request.named
    if named is None:
        return []
    node, _ = named
    write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
    found = [types.DocumentHighlight(request.definition_range(node), write)]
    for line, use in request.listing.uses_of(node):
        found.append(types.DocumentHighlight(request.use_range(line, use), read))
    return found
