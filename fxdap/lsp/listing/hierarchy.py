"""Call hierarchy as dataflow: a node's callers are its producers, its callees its users."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.model import Node
from fxdap.lsp.listing.operators import opcode
from fxdap.lsp.listing.request import PositionRequest, Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


def prepare(
    server: "Server", params: types.CallHierarchyPrepareParams
) -> list[types.CallHierarchyItem] | None:
    """The node that the position names."""
    request = PositionRequest(server, params)
    named = request.named
    return [_item(request, named[0])] if named is not None else None


def producers(
    server: "Server", params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall]:
    """The nodes that a node reads."""
    request, node = _find(server, params.item)
    if node is None:
        return []
    return [
        types.CallHierarchyIncomingCall(_item(request, each), [request.definition_range(each)])
        for each in node.inputs
    ]


def users(
    server: "Server", params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall]:
    """The nodes that read a node, with the arguments that do."""
    request, node = _find(server, params.item)
    if node is None:
        return []
    return [
        types.CallHierarchyOutgoingCall(
            _item(request, each),
            [
                request.use_range(each.line, use)
                for use in each.text.uses
                if use.name == node.text.name
            ],
        )
        for each in node.users
    ]


def _find(server: "Server", item: types.CallHierarchyItem) -> tuple[Request, Node | None]:
    request = Request(server, item.uri)
    node = request.listing.by_line.get(item.selection_range.start.line)
    return request, node if node is not None and item.name == f"%{node.text.name}" else None


def _item(request: Request, node: Node) -> types.CallHierarchyItem:
    text = node.text
    return types.CallHierarchyItem(
        name=f"%{text.name}",
        kind=types.SymbolKind.Function if text.target else types.SymbolKind.Variable,
        detail=" ".join(part for part in (text.type_text, text.target or opcode(text)) if part),
        uri=request.uri,
        range=request.line_range(node.line),
        selection_range=request.definition_range(node),
    )
