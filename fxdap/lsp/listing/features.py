"""Every request that is served in a listing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.language import Language
from fxdap.lsp.listing import names, outline

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


def check(server: "Server", uri: str) -> Iterator[types.Diagnostic | None]:
    return iter(())


def forget(server: "Server", uri: str) -> None:
    server.listings.forget(uri)


LISTING = Language(
    id="fxgraph",
    suffix=".fxgraph",
    handlers={
        types.TEXT_DOCUMENT_REFERENCES: names.references,
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: names.highlight,
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: outline.document_symbols,
        types.TEXT_DOCUMENT_FOLDING_RANGE: outline.folding,
    },
    check=check,
    forget=forget,
)
