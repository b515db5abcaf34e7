"""The findings of a file as diagnostics, and their fixes as code actions."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.python.findings import Finding
from fxdap.lsp.python.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}


def check(server: "Server", uri: str) -> Iterator[types.Diagnostic | None]:
    """Every finding; None between the checks."""
    request = Request(server, uri)
    for finding in request.file.check():
        yield None if finding is None else _diagnostic(request, finding)


def code_actions(server: "Server", params: types.CodeActionParams) -> list[types.CodeAction]:
    """The fixes of what is found in the range."""
    wanted = params.context.only or [types.CodeActionKind.QuickFix]
    if not any(types.CodeActionKind.QuickFix.startswith(kind) for kind in wanted):
        return []
    request = Request(server, params.text_document.uri)
    found = ((finding, _diagnostic(request, finding)) for finding in request.file.findings)
    return [
        _action(request, finding, diagnostic)
        for finding, diagnostic in found
        if finding.fix is not None and _overlap(diagnostic.range, params.range)
    ]


def _diagnostic(request: Request, finding: Finding) -> types.Diagnostic:
    return types.Diagnostic(
        range=request.range(finding.place),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source="fxdap",
        message=finding.message,
    )


def _action(request: Request, finding: Finding, diagnostic: types.Diagnostic) -> types.CodeAction:
    assert finding.fix is not None
    edits = [types.TextEdit(request.range(e.place), e.text) for e in finding.fix.edits]
    return types.CodeAction(
        title=finding.fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        edit=types.WorkspaceEdit(changes={request.uri: edits}),
        is_preferred=True,
    )


def _overlap(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
