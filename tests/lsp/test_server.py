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
