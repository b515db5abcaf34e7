"""Inlay hints: how many bytes a value takes, and where a long-lived one is read for the last time.

Small values, views and values read soon after they were made have none: that would be noise.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.facts import storage_of
from fxdap.lsp.listing.model import Node
from fxdap.lsp.listing.request import Request
from fxdap.lsp.listing.value_type import bytes_of, size_text

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

MIN_BYTES = 10_000
LONG_LIVED = 20
"""Lines between definition and last use."""


def inlay_hints(server: "Server", params: types.InlayHintParams) -> list[types.InlayHint]:
    """The hints of the lines that are shown."""
    request = Request(server, params.text_document.uri)
    found: list[types.InlayHint] = []
    last = min(params.range.end.line, len(request.listing.lines) - 1)
    for line in range(params.range.start.line, last + 1):
        node = request.listing.by_line.get(line)
        if node is not None:
            found += _size(request, node)
            found += _last_uses(request, node)
    return found


def _size(request: Request, node: Node) -> Iterator[types.InlayHint]:
    given = node.text.op in ("placeholder", "get_attr")
    new_bytes = storage_of(request.listing).new_bytes
    size = bytes_of(node.text.type_text) if given else new_bytes(node)
    if size is not None and size >= MIN_BYTES:
        yield types.InlayHint(
            position=request.columns.position(node.line, node.text.type_end),
            label=size_text(size),
            kind=types.InlayHintKind.Type,
            padding_left=True,
            tooltip=f"{size:,} bytes",
        )


def _last_uses(request: Request, node: Node) -> Iterator[types.InlayHint]:
    if node.text.op == "output":
        return
    for use in node.text.uses:
        made = request.listing.find(node.text.graph, use.name)
        if made is None or made.last_use is not node or node.line - made.line < LONG_LIVED:
            continue
        if made.text.op not in ("get_attr", "placeholder"):
            yield types.InlayHint(
                position=request.columns.position(node.line, use.end),
                label="last use",
                padding_left=True,
                tooltip=f"no node below reads %{made.text.name}",
            )
