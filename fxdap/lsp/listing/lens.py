"""Code lenses on module headers: how much is in the module, run to it, break on all of it."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from fxdap.lsp.listing import modules
from fxdap.lsp.listing.model import Run
from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


def code_lenses(server: "Server", params: types.CodeLensParams) -> list[types.CodeLens]:
    """On the first header of each module and graph."""
    request = Request(server, params.text_document.uri)
    found = []
    for run in request.listing.runs:
        if modules.first_run(request.listing, run):
            where = request.line_range(run.line)
            found += [types.CodeLens(where, command) for command in _commands(request, run)]
    return found


def _commands(request: Request, run: Run) -> list[types.Command]:
    nodes = modules.nodes_of(request.listing, run)
    if not nodes:
        return []
    commands = [types.Command(modules.summary(nodes), "")]
    if not request.server.has_commands:
        return commands
    first = min(node.line for node in nodes)
    place: dict[str, Any] = {"lineNumber": first + 1}
    if run.module.graph == "":
        commands.append(types.Command("Run to here", "fxdap.runToNode", arguments=[place]))
    if run.header.path:
        selector = f"module:{run.header.path}"
        commands.append(types.Command("Break on all", "fxdap.breakOn", arguments=[selector]))
    return commands
