"""`.pt2` files: their listing is written by another process."""

import threading
from pathlib import Path

import pytest
import torch

from tests.lsp.client import Client, LspError


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("pt2")
    torch.export.save(torch.export.export(Net(), (torch.ones(2),)), path / "net.pt2")
    (path / "broken.pt2").write_bytes(b"not a program")
    return path


@pytest.fixture(scope="module")
def client(folder):
    with Client(folder) as client:
        yield client


@pytest.fixture(scope="module")
def answers(client, folder):
    """Both files are read at the same time: each takes as long as importing torch."""
    names = ("net.pt2", "broken.pt2")
    sent = {name: send(client, folder / name) for name in names}
    return {name: client.answer(number, "fxdap/pt2Listing") for name, number in sent.items()}


def send(client, path):
    return client.send("fxdap/pt2Listing", {"uri": path.as_uri()})


def test_a_program_is_listed_where_the_debugger_would(answers, folder):
    answer = answers["net.pt2"]

    path = Path(answer["listing"])
    assert path == folder / ".fxdap" / "graphs" / "net.fxgraph"
    assert "%relu: f32[2] = aten.relu.default(%x)" in path.read_text()
    assert (answer["nodes"], answer["how"]) == (4, "ExportedProgram")


def test_a_file_that_is_none_says_why_and_what_to_do(answers, folder):
    error = answers["broken.pt2"]["error"]

    assert error.startswith(f"graph: '{folder / 'broken.pt2'}': torch.export cannot load it")
    assert error.endswith("Save it with torch.export.save of a compatible torch version")


def test_cancelling_ends_the_process(client, folder, answers):
    number = send(client, folder / "net.pt2")
    children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
    assert eventually(lambda: children.read_text())

    client.notify("$/cancelRequest", {"id": number})

    with pytest.raises(LspError, match="canceled"):
        client.answer(number, "fxdap/pt2Listing")
    assert eventually(lambda: not children.read_text())


def eventually(condition):
    return any(condition() or threading.Event().wait(0.02) for _ in range(1000))
