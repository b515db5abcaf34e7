"""What the server needs to know of a language that it serves."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

Handler = Callable[["Server", Any], Any]
"""Answers one LSP request. A coroutine function where it waits for another process."""


@dataclass(frozen=True)
class Language:
    """`handlers` by LSP method. `check` yields diagnostics, None where others may have a turn."""

    id: str
    suffix: str
    handlers: Mapping[str, Handler]
    check: Callable[["Server", str], Iterator[types.Diagnostic | None]]
    prepare: Callable[["Server", str], Awaitable[None]]
    """Called before each handler: parses the document if that takes long."""
    forget: Callable[["Server", str], None]
    """The document was closed."""
