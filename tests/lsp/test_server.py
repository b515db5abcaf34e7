"""The server as a process: how it starts, what it loads, what it answers to."""

import subprocess
import sys

import pytest
from lsprotocol import types

from tests.lsp.client import Client

TEXT = "# Net\n  %x = placeholder\n  %y = torch.relu(%x)\n"


def test_serving_listings_never_loads_torch():
    code = "import sys, fxdap.lsp.server; print('torch' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_it_serves_a_tcp_client(tmp_path):
    with Client(tmp_path, tcp=True) as client:
        uri = client.open(tmp_path / "net.fxgraph", TEXT)
        found = client.at(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, uri, 1, 3)

    assert len(found) == 2
    assert client.process.returncode == 0


def test_a_document_of_another_language_is_answered_with_nothing(server, tmp_path):
    uri = server.open(tmp_path / "notes.txt", TEXT, language="plaintext")

    assert server.at(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, uri, 1, 3) is None


@pytest.mark.parametrize(("encoding", "units"), [("utf-16", 2), ("utf-8", 4)])
def test_columns_are_counted_as_the_client_does(tmp_path, encoding, units):
    text = "# Net\n  %x = placeholder\n  %y = f(%x, '\U0001d54f', %x)\n"
    with Client(tmp_path, encodings=(encoding,)) as client:
        uri = client.open(tmp_path / "net.fxgraph", text)
        found = client.at(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, uri, 1, 3)

    last = len("  %y = f(%x, ''") + units + len(", ")
    assert [each.range.start.character for each in found] == [2, 9, last]
    assert found[-1].range.end.character == last + 2


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x85", "\u2028"])
def test_lines_end_where_the_client_ends_them(server, end):
    text = f"# Net\n  # a{end}b\n  %x = placeholder\n  %y = f(%x)\n"
    uri = server.open(f"file:///nowhere/ends-{ord(end)}.fxgraph", text)
    where = types.Range(types.Position(3, 9), types.Position(3, 11))

    server.change(uri, 2, types.TextDocumentContentChangePartial(range=where, text="%nothing"))

    (found,) = [each for each in server.diagnostics_of(uri, 2) if each.code == "undefined"]
    assert found.range == types.Range(types.Position(3, 9), types.Position(3, 17))


def test_an_edit_beyond_the_end_of_a_line_or_the_text_is_one_at_its_end(server):
    uri = server.open("file:///nowhere/beyond.fxgraph", "# Net\n  %x = f()\n  %y = f(%x")
    for version, (line, text) in enumerate([(2, ")"), (9, "\n  %z = f(%y)")], 2):
        where = types.Range(types.Position(line, 99), types.Position(line, 99))
        server.change(uri, version, types.TextDocumentContentChangePartial(range=where, text=text))

    found = server.at(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, uri, 2, 3)

    assert [each.range for each in found] == [
        types.Range(types.Position(2, 2), types.Position(2, 4)),
        types.Range(types.Position(3, 9), types.Position(3, 11)),
    ]
