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

MAX_NODES = 4000

_OPCODE_TYPES = {"placeholder": 1, "get_attr": 2}
_DEFINITION, _BUFFER, _DEAD, _MUTATED = (1 << bit for bit in range(len(MODIFIERS)))


def full(server: "Server", params: types.SemanticTokensParams) -> types.SemanticTokens:
    """The tokens of the whole listing; of a long one those that stand out.

    Whoever shows a part of a long listing asks for that part.
    """
    request = Request(server, params.text_document.uri)
    nodes = request.listing.nodes
    return _encode(request, nodes, plain=len(nodes) <= MAX_NODES)


def visible(server: "Server", params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """The tokens of the lines that are shown."""
    request = Request(server, params.text_document.uri)
    first, last = params.range.start.line, params.range.end.line
    return _encode(request, request.listing.nodes_between(first, last + 1), plain=True)


def _encode(request: Request, nodes: list[Node], plain: bool) -> types.SemanticTokens:
    """`plain`: also what a grammar colours as well, plain values."""
    listing = request.listing
    written = storage_of(listing).written
    data: list[int] = []
    line = column = 0
    for node in nodes:
        text = listing.lines[node.line]
        for start, end, kind, modifiers in _tokens(listing, node, written):
            if not plain and kind == 0 and modifiers & ~_DEFINITION == 0:
                continue
            if not text.isascii():
                where = request.columns.range(node.line, start, end)
                start, end = where.start.character, where.end.character
            data += (
                node.line - line,
                start - column if node.line == line else start,
                end - start,
                kind,
                modifiers,
            )
            line, column = node.line, start
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
