""" "Debug FX Graph" above the module classes and functions that can be debugged as they stand."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.python.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

COMMAND = "fxdap.debugTarget"
"""A command of the client: starts to debug `name` of the file with the URI."""


def code_lens(server: "Server", params: types.CodeLensParams) -> list[types.CodeLens]:
    """One lens per target; none for a client that does not have the command."""
    if not server.has_commands:
        return []
    request = Request(server, params.text_document.uri)
    return [
        types.CodeLens(
            request.columns.lines(target.line - 1, target.line - 1),
            types.Command("Debug FX Graph", COMMAND, arguments=[request.uri, target.name]),
        )
        for target in request.file.targets
    ]
