"""Completion of `%names`: the nodes defined above, nearest first."""

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.model import Node
from fxdap.lsp.listing.request import PositionRequest

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

MAX_ITEMS = 100

_TYPED = re.compile(r"%(\w*)$")
_GRAPH = re.compile(r"\s*([^\s%#]+)/%")


def completion(server: "Server", params: types.CompletionParams) -> types.CompletionList | None:
    """Behind a `%`, the names that the line may read."""
    request = PositionRequest(server, params)
    if request.line >= len(request.listing.lines):
        return None
    line = request.listing.lines[request.line]
    typed = _TYPED.search(line[: request.column])
    if typed is None:
        return None
    graph = _GRAPH.match(line)
    section = request.listing.sections.get(graph[1] if graph else "")
    nodes = section.nodes if section is not None else []
    matching = [
        node
        for node in reversed(nodes)
        if node.line < request.line and node.text.name.startswith(typed[1])
    ]
    where = request.columns.range(request.line, typed.start(), request.column)
    items = [_item(node, where, rank) for rank, node in enumerate(matching[:MAX_ITEMS])]
    return types.CompletionList(is_incomplete=len(matching) > MAX_ITEMS, items=items)


def _item(node: Node, where: types.Range, rank: int) -> types.CompletionItem:
    name = f"%{node.text.name}"
    return types.CompletionItem(
        label=name,
        label_details=types.CompletionItemLabelDetails(detail=f" {node.text.type_text}"),
        kind=types.CompletionItemKind.Variable,
        detail=node.text.target or node.text.op,
        sort_text=f"{rank:04}",
        filter_text=name,
        text_edit=types.TextEdit(where, name),
    )
