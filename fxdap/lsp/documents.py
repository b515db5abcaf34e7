"""What the server keeps of each document: its parsed form, read once per version."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from lsprotocol import types
from pygls.workspace import PositionCodec, Workspace

from fxdap.lsp.lines import column_at

Parsed = TypeVar("Parsed")

LONG = 200_000
"""Characters from which parsing a document takes more than a moment."""


class Cache(Generic[Parsed]):
    """The parsed form of documents that are open; a text is parsed when first asked for."""

    def __init__(self, parse: Callable[[str], Parsed]) -> None:
        self._parse = parse
        self._known: dict[str, tuple[str, Parsed]] = {}
        self._running: dict[str, tuple[str, asyncio.Future[Parsed]]] = {}

    async def prepare(self, workspace: Workspace, uri: str) -> None:
        """Parse a long text in a thread, so that other requests and edits have their turn."""
        text = workspace.get_text_document(uri).source
        known = self._known.get(uri)
        if len(text) < LONG or (known is not None and known[0] is text):
            return
        running = self._running.get(uri)
        if running is None or running[0] is not text:
            running = (text, asyncio.ensure_future(asyncio.to_thread(self._parse, text)))
            self._running[uri] = running
        parsed = await asyncio.shield(running[1])
        if self._running.get(uri) is running:
            del self._running[uri]
            self._keep(workspace, uri, text, parsed)

    def get(self, workspace: Workspace, uri: str) -> Parsed:
        """The parsed form of a document as it is now."""
        text = workspace.get_text_document(uri).source
        known = self._known.get(uri)
        if known is not None and known[0] is text:
            return known[1]
        parsed = self._parse(text)
        self._keep(workspace, uri, text, parsed)
        return parsed

    def _keep(self, workspace: Workspace, uri: str, text: str, parsed: Parsed) -> None:
        if uri in workspace.text_documents:
            self._known[uri] = (text, parsed)

    def forget(self, uri: str) -> None:
        self._known.pop(uri, None)


class Columns:
    """Columns as Python counts them, and as the client does; the same in lines of ASCII."""

    def __init__(self, lines: Sequence[str], codec: PositionCodec) -> None:
        self._lines = lines
        self._codec = codec

    def range(self, line: int, start: int, end: int) -> types.Range:
        text = self._lines[line] if line < len(self._lines) else ""
        if not text.isascii():
            start, end = (self._codec.client_num_units(text[:column]) for column in (start, end))
        return types.Range(types.Position(line, start), types.Position(line, end))

    def position(self, line: int, column: int) -> types.Position:
        return self.range(line, column, column).start

    def lines(self, first: int, last: int) -> types.Range:
        """From the start of one line to the end of another."""
        end = len(self._lines[last]) if last < len(self._lines) else 0
        return types.Range(types.Position(first, 0), self.position(last, end))

    def locate(self, position: types.Position) -> tuple[int, int]:
        """Line and column in Python's count; what lies beyond the end of the line is its end."""
        if position.line >= len(self._lines):
            return position.line, 0
        column = column_at(self._lines[position.line], position.character, self._codec)
        return position.line, column
