"""The open documents. pygls splits lines with str.splitlines: its edits would land elsewhere."""

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from fxdap.lsp.lines import column_at, line_start, split_lines


class Document(TextDocument):
    """A document whose edits are applied to lines as the client counts them."""

    @property
    def lines(self) -> list[str]:
        """Without their ends."""
        return split_lines(self.source)

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Replace a range, or everything; what lies beyond the end of a line is its end."""
        if not isinstance(change, types.TextDocumentContentChangePartial):
            self._source = change.text
            return
        text = self.source
        start, end = self._offset(text, change.range.start), self._offset(text, change.range.end)
        self._source = text[:start] + change.text + text[end:]

    def _offset(self, text: str, position: types.Position) -> int:
        start = line_start(text, position.line)
        # A line has no more characters than the client counts units.
        line = split_lines(text[start : start + position.character])[0]
        return start + column_at(line, position.character, self.position_codec)


class Documents(Workspace):
    """The workspace with documents of our own."""

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> Document:
        return Document(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            position_codec=self.position_codec,
        )
