"""Every request that is served in a Python file."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.language import Language
from fxdap.lsp.python import diagnostics, hover, lens

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


async def _prepare(server: "Server", uri: str) -> None:
    await server.python_files.prepare(server.workspace, uri)


def _forget(server: "Server", uri: str) -> None:
    server.python_files.forget(uri)


PYTHON = Language(
    id="python",
    suffix=".py",
    handlers={
        types.TEXT_DOCUMENT_HOVER: hover.hover,
        types.TEXT_DOCUMENT_CODE_LENS: lens.code_lens,
        types.TEXT_DOCUMENT_CODE_ACTION: diagnostics.code_actions,
    },
    check=diagnostics.check,
    prepare=_prepare,
    forget=_forget,
)
