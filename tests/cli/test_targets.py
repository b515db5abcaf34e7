"""What can be debugged in a folder, found without running anything."""

import json
from pathlib import Path

import pytest

from fxdap.cli import main
from fxdap.view.python_targets import python_targets


def test_the_samples_targets_are_found(
    sample_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["targets", str(sample_models), "--json"]) == 0
    found = {t["graph"]: t["kind"] for t in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found["mlp.py:MLP"] == "class"
    assert found["bert.py:model"] == "function"
    assert found["nested.py:model"] == "function"
    assert "cnn.py:Block" not in found
    assert not any(graph.startswith("script.py") for graph in found)


def test_environments_hidden_folders_and_broken_files_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = "from torch import nn\nexample_inputs = ()\nclass M(nn.Module): ...\n"
    for place in ("a.py", "env/b.py", ".hidden/c.py", "node_modules/d.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(model)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "broken.py").write_text("example_inputs = (\n")
    (tmp_path / "binary.py").write_bytes(b"example_inputs\xff\xfe")
    (tmp_path / "saved.pt2").touch()
    assert main(["targets", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.py:M  (class)",
        "saved.pt2  (exported program)",
    ]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class M(nn.Module): ...", []),
        ("example_inputs = 1\nclass M(Base): ...", []),
        ("example_inputs = 1\nclass M(nn.Module):\n def __init__(self, n): ...", []),
        ("example_inputs = 1\nclass M(nn.Module):\n def __init__(self, n=1, *, k=2): ...", ["M"]),
        ("example_inputs = 1\nclass A(nn.Module): ...\nclass B(A): ...", ["A", "B"]),
        ("example_inputs: tuple = ()\ndef build(n=1): return n\ndef go(n): return n", ["build"]),
        ("def example_inputs(): return 1\ndef _a(): return 1\ndef main(): return 1", []),
        ("example_inputs = 1\ndef prints(): print(1)", []),
    ],
)
def test_a_target_is_what_can_be_called_without_arguments(source: str, names: list[str]) -> None:
    assert [target.name for target in python_targets(source)] == names
