"""Code lenses on module headers: how much is in the module, run to it, break on all of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types

from fxdap.lsp.encoding import plain
from fxdap.lsp.listing import modules
from fxdap.lsp.listing.model import Run
from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


def code_lenses(server: "Server", params: types.CodeLensParams) -> msgspec.Raw:
    """On the first header of each module and graph. As JSON: large models have thousands."""
    request = Request(server, params.text_document.uri)
    found = []
    for run in request.listing.runs:
        if modules.first_run(request.listing, run):
            where = plain(request.line_range(run.line))
            found += [{"range": where, "command": each} for each in _commands(request, run)]
    return msgspec.Raw(msgspec.json.encode(found))


def _commands(request: Request, run: Run) -> Iterator[dict[str, Any]]:
    nodes = modules.nodes_of(request.listing, run)
    if not nodes:
        return
    yield {"title": modules.summary(request.listing, nodes), "command": ""}
    if not request.server.has_commands:
        return
    if run.module.graph == "":
        place = {"lineNumber": min(node.line for node in nodes) + 1}
        yield {"title": "Run to here", "command": "fxdap.runToNode", "arguments": [place]}
    if run.header.path:
        selector = f"module:{run.header.path}"
        yield {"title": "Break on all", "command": "fxdap.breakOn", "arguments": [selector]}
