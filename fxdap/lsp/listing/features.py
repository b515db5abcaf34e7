"""Every request that is served in a listing."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.language import Language
from fxdap.lsp.listing import (
    actions,
    checks,
    completion,
    definition,
    hierarchy,
    hover,
    inlay,
    inline_values,
    lens,
    links,
    names,
    outline,
    selectors,
    symbols,
    tokens,
)

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


async def _prepare(server: "Server", uri: str) -> None:
    await server.listings.prepare(server.workspace, uri)


def _forget(server: "Server", uri: str) -> None:
    server.listings.forget(uri)


LISTING = Language(
    id="fxgraph",
    suffix=".fxgraph",
    handlers={
        types.CALL_HIERARCHY_INCOMING_CALLS: hierarchy.producers,
        types.CALL_HIERARCHY_OUTGOING_CALLS: hierarchy.users,
        types.TEXT_DOCUMENT_CODE_ACTION: actions.code_actions,
        types.TEXT_DOCUMENT_CODE_LENS: lens.code_lenses,
        types.TEXT_DOCUMENT_COMPLETION: completion.completion,
        types.TEXT_DOCUMENT_DEFINITION: definition.definition,
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: names.highlight,
        types.TEXT_DOCUMENT_DOCUMENT_LINK: links.document_links,
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: outline.document_symbols,
        types.TEXT_DOCUMENT_FOLDING_RANGE: outline.folding,
        types.TEXT_DOCUMENT_HOVER: hover.hover,
        types.TEXT_DOCUMENT_INLAY_HINT: inlay.inlay_hints,
        types.TEXT_DOCUMENT_INLINE_VALUE: inline_values.inline_values,
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: hierarchy.prepare,
        types.TEXT_DOCUMENT_REFERENCES: names.references,
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: tokens.full,
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: tokens.visible,
        selectors.NODE_AT: selectors.node_at,
        types.WORKSPACE_SYMBOL: symbols.workspace_symbols,
    },
    check=checks.check,
    prepare=_prepare,
    forget=_forget,
)
