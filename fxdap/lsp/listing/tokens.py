"""Semantic tokens: what a grammar cannot know of a name, such as that nothing reads it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

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

Token: TypeAlias = tuple[int, int, int, int, int]
"""Line, first and last column, index of the type, bits of the modifiers."""

_OPCODE_TYPES = {"placeholder": 1, "get_attr": 2}
_DEFINITION, _BUFFER, _DEAD, _MUTATED = (1 << bit for bit in range(len(MODIFIERS)))


def full(server: "Server", params: types.SemanticTokensParams) -> types.SemanticTokens:
    """The tokens of the whole listing; of a long one those that stand out.

    Whoever shows a part of a long listing asks for that part.
    """
    request = Request(server, params.text_document.uri)
    listing = request.listing
    if len(listing.nodes) <= MAX_NODES:
        return _encode(request, _all(listing, listing.nodes))
    return _encode(request, sorted(_outstanding(listing)))


def visible(server: "Server", params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """The tokens of the lines that are shown."""
    request = Request(server, params.text_document.uri)
    first, last = params.range.start.line, params.range.end.line
    nodes = request.listing.nodes_between(first, last + 1)
    return _encode(request, _all(request.listing, nodes))


def _encode(request: Request, tokens: Iterable[Token]) -> types.SemanticTokens:
    data: list[int] = []
    line = column = 0
    for number, start, end, kind, modifiers in tokens:
        if not request.listing.lines[number].isascii():
            where = request.columns.range(number, start, end)
            start, end = where.start.character, where.end.character
        right = start - column if number == line else start
        data += (number - line, right, end - start, kind, modifiers)
        line, column = number, start
    return types.SemanticTokens(data)


def _all(listing: Listing, nodes: Iterable[Node]) -> Iterator[Token]:
    written = storage_of(listing).written
    for node in nodes:
        yield _definition(node, *_kind(node, written))
        for use in node.text.uses:
            made = listing.find(node.text.graph, use.name)
            if made is not None:
                yield node.line, use.start, use.end, *_kind(made, written)


def _outstanding(listing: Listing) -> Iterator[Token]:
    """Without plain values, which a grammar colours as well."""
    written = storage_of(listing).written
    for node in listing.nodes:
        kind, modifiers = _kind(node, written)
        plain = not kind and not modifiers
        if not plain or is_dead(node):
            yield _definition(node, kind, modifiers)
        if not plain:
            for line, use in listing.uses_of(node):
                yield line, use.start, use.end, kind, modifiers


def _definition(node: Node, kind: int, modifiers: int) -> Token:
    text = node.text
    dead = _DEAD if is_dead(node) else 0
    return node.line, text.end - len(text.name) - 1, text.end, kind, modifiers | _DEFINITION | dead


def _kind(node: Node, written: set[Node]) -> tuple[int, int]:
    kind = _OPCODE_TYPES.get(node.text.op, 0)
    modifiers = _MUTATED if node in written else 0
    if kind == 2 and is_buffer(node):
        modifiers |= _BUFFER
    return kind, modifiers
