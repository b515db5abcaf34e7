"""`fxdap list` on every sample."""

import json
from pathlib import Path

import pytest

from fxdap.cli import main

SAMPLES = ["mlp.py:MLP", "cnn.py:model", "gpt.py:GPT", "bert.py:model", "nested.py:model"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_sample_is_listed_where_the_debugger_looks(
    sample: str, sample_models: Path, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["list", str(sample_models / sample)]) == 0
    listings = list((tmp_path / ".fxdap" / "graphs").glob("*.fxgraph"))
    assert len(listings) == 1
    text, notes = capsys.readouterr()
    assert text == listings[0].read_text(encoding="utf-8")
    assert text.count("%output = return") >= 1
    assert str(listings[0]) in notes


def test_o_writes_that_file_only(sample_models: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "made" / "mlp.fxgraph"
    assert main(["list", str(sample_models / "mlp.py:MLP"), "-o", str(output)]) == 0
    assert "aten.relu" in output.read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""
    assert not (tmp_path / ".fxdap").exists()


def test_json_says_where_the_listing_is_instead_of_printing_it(
    sample_models: Path, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["list", str(sample_models / "mlp.py:MLP"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    written = tmp_path / ".fxdap" / "graphs" / "MLP.fxgraph"
    assert answer == {"listing": str(written), "nodes": 15, "how": "torch.export"}
    assert written.read_text(encoding="utf-8").startswith("# MLP")


def test_capture_chooses_how_the_graph_is_made(sample_models: Path, tmp_path: Path, capsys):
    target = str(sample_models / "mlp.py:MLP")
    output = str(tmp_path / "mlp.fxgraph")
    assert main(["list", target, "--capture", "symbolic_trace", "-o", output]) == 0
    assert "torch.relu(%fc1)" in Path(output).read_text(encoding="utf-8")
    assert "symbolic_trace" in capsys.readouterr().err


def test_a_target_that_is_not_there_is_explained(sample_models: Path, capsys):
    assert main(["list", str(sample_models / "mlp.py:MLPP")]) == 2
    assert "Did you mean 'MLP'?" in capsys.readouterr().err


def test_aot_lists_the_forward_and_the_backward(
    sample_models: Path, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["list", str(sample_models / "mlp.py:MLP"), "--capture", "aot", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    listed = [answer["listing"], *answer["more"]]
    assert [Path(each).name for each in listed] == ["MLP.forward.fxgraph", "MLP.backward.fxgraph"]
    forward, backward = (Path(each).read_text(encoding="utf-8") for each in listed)
    assert "%primals_1: f32[16, 8] = placeholder(fc1.weight)" in forward
    assert "aten.threshold_backward.default" in backward
    assert answer["nodes"] == forward.count(" = ") + backward.count(" = ")
