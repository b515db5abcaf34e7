"""A language server with the listing of an exported GPT open in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lsp.client import Client

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Client]:
    """One server for all tests that only ask; each opens documents of its own."""
    with Client(tmp_path_factory.mktemp("lsp"), options={"commands": True}) as client:
        yield client


@pytest.fixture(scope="session")
def listing(server: Client) -> "Document":
    return Document(server, "listing.fxgraph", (DATA / "listing.fxgraph").read_text())


class Document:
    """An open listing, with places in it found by their text."""

    def __init__(self, client: Client, name: str, text: str, *, language: str = "fxgraph") -> None:
        self.client = client
        self.text = text
        self.lines = text.split("\n")
        self.uri = client.open(f"file:///nowhere/{name}", text, language)

    def line(self, start: str) -> int:
        """The line that begins so, after its indentation."""
        found = [n for n, line in enumerate(self.lines) if line.strip().startswith(start)]
        assert found, start
        return found[0]

    def at(self, method: str, start: str, word: str = "", **more):
        """Ask about a word of the line that begins so; by default about its beginning."""
        line = self.line(start)
        text = self.lines[line]
        column = text.index(word, text.index("=") if word and "=" in text else 0) if word else 0
        column = column or len(text) - len(text.lstrip())
        return self.client.at(method, self.uri, line, column + 1, **more)

    def about(self, method: str, **more):
        return self.client.about(method, self.uri, **more)

    def written(self, place):
        """What stands in a range."""
        start, end = place.start, place.end
        assert start.line == end.line
        return self.lines[start.line][start.character : end.character]
