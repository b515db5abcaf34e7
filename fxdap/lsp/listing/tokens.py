"""Semantic tokens: what a grammar cannot know of a name, such as that nothing reads it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.facts import is_buffer, is_dead, storage_of
from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

TYPES = ("variable", "parameter", "property")
MODIFIERS = ("definition", "buffer", "dead", "mutated")
LEGEND = types.SemanticTokensLegend(TYPES, MODIFIERS)

_OPCODE_TYPES = {"placeholder": 1, "get_attr": 2}
_DEFINITION, _BUFFER, _DEAD, _MUTATED = (1 << bit for bit in range(len(MODIFIERS)))


def full(server: "Server", params: types.SemanticTokensParams) -> types.SemanticTokens:
    """The tokens of the whole listing."""
    request = Request(server, params.text_document.uri)
    return _encode(request, 0, len(request.listing.lines))


def visible(server: "Server", params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """The tokens of the lines that are shown."""
    request = Request(server, params.text_document.uri)
    return _encode(request, params.range.start.line, params.range.end.line + 1)


def _encode(request: Request, first: int, last: int) -> types.SemanticTokens:
    listing = request.listing
    written = storage_of(listing).written
    data: list[int] = []
    line = column = 0
    for node in listing.nodes_between(first, last):
        for start, end, kind, modifiers in _tokens(listing, node, written):
            where = request.columns.range(node.line, start, end)
            begin = where.start.character
            relative = begin - column if node.line == line else begin
            data += (node.line - line, relative, where.end.character - begin, kind, modifiers)
            line, column = node.line, begin
    return types.SemanticTokens(data)


def _tokens(
    listing: Listing, node: Node, written: set[Node]
) -> Iterator[tuple[int, int, int, int]]:
    text = node.text
    kind, modifiers = _kind(node, written)
    dead = _DEAD if is_dead(node) else 0
    yield text.end - len(text.name) - 1, text.end, kind, modifiers | _DEFINITION | dead
    for use in text.uses:
        made = listing.find(text.graph, use.name)
        if made is not None:
            yield use.start, use.end, *_kind(made, written)


def _kind(node: Node, written: set[Node]) -> tuple[int, int]:
    kind = _OPCODE_TYPES.get(node.text.op, 0)
    modifiers = _MUTATED if node in written else 0
    if kind == 2 and is_buffer(node):
        modifiers |= _BUFFER
    return kind, modifiers
