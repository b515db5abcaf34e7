"""Quick fixes: the nearest name for one that is undefined, and breakpoints where to look closer."""

import difflib
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

_WORTH_A_STOP = {"shape": "", "type": "after:", "mutation": "after:", "device": ""}
"""Codes of diagnostics, and whether to stop before or after the node."""


def code_actions(server: "Server", params: types.CodeActionParams) -> list[types.CodeAction]:
    """What can be done about the diagnostics at the position."""
    request = Request(server, params.text_document.uri)
    found: list[types.CodeAction] = []
    for diagnostic in params.context.diagnostics:
        if diagnostic.source == "fxdap":
            action = _rename(request, diagnostic) or _break(request, diagnostic)
            if action is not None:
                found.append(action)
    return found


def _rename(request: Request, diagnostic: types.Diagnostic) -> types.CodeAction | None:
    line, column = request.columns.locate(diagnostic.range.start)
    node = request.listing.by_line.get(line)
    if diagnostic.code != "undefined" or node is None:
        return None
    use = next((use for use in node.text.uses if use.start == column), None)
    above = [
        each.text.name
        for each in request.listing.sections[node.text.graph].nodes
        if each.line < line
    ]
    close = difflib.get_close_matches(use.name, above[-2000:], n=1) if use is not None else []
    if not close:
        return None
    edit = types.TextEdit(diagnostic.range, f"%{close[0]}")
    return types.CodeAction(
        title=f"Read %{close[0]} instead",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        edit=types.WorkspaceEdit(changes={request.uri: [edit]}),
    )


def _break(request: Request, diagnostic: types.Diagnostic) -> types.CodeAction | None:
    node = request.listing.by_line.get(diagnostic.range.start.line)
    when = _WORTH_A_STOP.get(str(diagnostic.code))
    if node is None or when is None or not request.server.has_commands:
        return None
    title = f"Break {'after' if when else 'on'} %{node.text.name}"
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        command=types.Command(title, "fxdap.breakOn", arguments=[f"{when}{node.text.name}"]),
    )
