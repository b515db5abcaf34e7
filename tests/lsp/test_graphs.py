"""Graphs of the workspace: what there is, and listings that another process writes."""

import threading
from pathlib import Path

import pytest
import torch

from tests.lsp.client import Client, LspError


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


MODEL = """
class Model(torch.nn.Module):
    pass

example_inputs = (1,)
"""


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
    return {name: client.answer(number, "fxdap/writeListing") for name, number in sent.items()}


def send(client, path):
    params = {"uri": path.parent.as_uri(), "graph": str(path)}
    return client.send("fxdap/writeListing", params)


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
        client.answer(number, "fxdap/writeListing")
    assert eventually(lambda: not children.read_text())


def test_the_graphs_of_a_folder_come_with_their_launch_configuration(client, folder):
    (folder / "model.py").write_text(MODEL)
    asked = {"uri": folder.as_uri(), "file": (folder / "model.py").as_uri()}

    first, *rest = client.request("fxdap/targets", asked)

    assert first == {
        "label": "model.py:Model",
        "description": "class",
        "likely": True,
        "configuration": {
            "type": "fxdap",
            "request": "launch",
            "name": "Debug FX Graph: model.py:Model",
            "graph": "${workspaceFolder}/model.py:Model",
        },
    }
    assert [(each["label"], each["likely"]) for each in rest] == [
        ("broken.pt2", False),
        ("net.pt2", False),
    ]


def test_the_graph_whose_listing_has_that_name_comes_first(client, folder):
    found = client.request("fxdap/targets", {"uri": folder.as_uri(), "listing": "net"})

    assert [each["label"] for each in found if each["likely"]] == ["net.pt2"]
    assert found[0]["likely"]


def eventually(condition):
    return any(condition() or threading.Event().wait(0.02) for _ in range(1000))
