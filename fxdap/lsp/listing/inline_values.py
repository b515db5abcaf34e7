"""Inline values: while stopped, the client asks the debugger for each value named here."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


def inline_values(
    server: "Server", params: types.InlineValueParams
) -> list[types.InlineValueEvaluatableExpression]:
    """The nodes that are shown and ran: those above the stop, in the same graph."""
    request = Request(server, params.text_document.uri)
    by_line = request.listing.by_line
    stop = params.context.stopped_location.start.line
    stopped = by_line.get(stop)
    graph = stopped.text.graph if stopped is not None else ""
    found = []
    for line in range(params.range.start.line, min(params.range.end.line, stop - 1) + 1):
        node = by_line.get(line)
        # A name of another graph means another value in the frame that is stopped.
        if node is not None and node.text.graph == graph:
            where = request.definition_range(node)
            found.append(types.InlineValueEvaluatableExpression(where, node.text.name))
    return found
