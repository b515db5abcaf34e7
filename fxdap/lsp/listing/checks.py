"""Diagnostics of a listing: what is surely wrong or surprising, and nothing else."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing import device_checks, storage_checks, type_checks
from fxdap.lsp.listing.facts import is_dead
from fxdap.lsp.listing.finding import Finding, Severity
from fxdap.lsp.listing.line import Use
from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

SLICE = 500
"""Nodes that are checked before others have a turn."""


def check(server: "Server", uri: str) -> Iterator[types.Diagnostic | None]:
    """Every finding of a listing as it is now; None now and then, to let requests in."""
    request = Request(server, uri)
    listing = request.listing
    yield None
    yield from (_diagnostic(request, each) for each in storage_checks.shared_writes(listing))
    for number, node in enumerate(listing.nodes):
        for found in node_findings(listing, node):
            yield _diagnostic(request, found)
        if number % SLICE == 0:
            yield None
    for node in listing.duplicates:
        yield _diagnostic(request, _duplicate(node))


def node_findings(listing: Listing, node: Node) -> Iterator[Finding]:
    """What is wrong with one node."""
    yield from _names(listing, node)
    if is_dead(node) and listing.find(node.text.graph, node.text.name) is node:
        yield _dead(node)
    for each in _PER_NODE:
        yield from each(listing, node)


def _names(listing: Listing, node: Node) -> Iterator[Finding]:
    for use in node.text.uses:
        made = listing.find(node.text.graph, use.name)
        if made is None:
            yield _at(node, use, "undefined", f"No node of this graph is named %{use.name}.")
        elif made.line >= node.line:
            where = f"line {made.line + 1}"
            yield _at(node, use, "order", f"%{use.name} is read before {where} defines it.")


def _at(node: Node, use: Use, code: str, message: str) -> Finding:
    return Finding(node.line, use.start, use.end, code, message, Severity.Error)


def _dead(node: Node) -> Finding:
    text = node.text
    message = f"Nothing reads %{text.name}."
    return Finding(
        node.line, text.start, text.end, "dead", message, Severity.Hint, unnecessary=True
    )


def _duplicate(node: Node) -> Finding:
    text = node.text
    message = f"%{text.name} is defined twice in this graph."
    return Finding(node.line, text.start, text.end, "duplicate", message, Severity.Error)


_PER_NODE: tuple[Callable[[Listing, Node], Iterator[Finding]], ...] = (
    type_checks.operand_shapes,
    type_checks.result_type,
    device_checks.baked_in_device,
)


def _diagnostic(request: Request, found: Finding) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(request.location(node), text)
        for node, text in found.related
    ]
    return types.Diagnostic(
        range=request.columns.range(found.line, found.start, found.end),
        message=found.message,
        severity=types.DiagnosticSeverity[found.severity.value],
        code=found.code,
        source="fxdap",
        tags=[types.DiagnosticTag.Unnecessary] if found.unnecessary else None,
        related_information=related or None,
    )
