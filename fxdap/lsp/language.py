"""What the server needs to know of a language that it serves."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

Handler = Callable[["Server", Any], Any]
"""Answers one LSP request. A coroutine function where it waits for another process."""


def _check_nothing(server: "Server", uri: str) -> Iterator[types.Diagnostic | None]:
    return iter(())


async def _prepare_nothing(server: "Server", uri: str) -> None:
    pass


def _forget_nothing(server: "Server", uri: str) -> None:
    pass


@dataclass(frozen=True)
class Language:
    """What is served in documents with this language id, or in files with this suffix."""

    id: str
    suffix: str
    handlers: Mapping[str, Handler]
    """By LSP method."""
    check: Callable[["Server", str], Iterator[types.Diagnostic | None]] = _check_nothing
    """Yields diagnostics, and None where other requests may have their turn."""
    prepare: Callable[["Server", str], Awaitable[None]] = _prepare_nothing
    """Called before each handler: parses the document if that takes long."""
    forget: Callable[["Server", str], None] = _forget_nothing
    """The document was closed."""
