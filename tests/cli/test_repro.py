"""`fxdap repro` on the samples: the script runs without fxdap and shows the node's value."""

import subprocess
import sys
from pathlib import Path

import pytest

from fxdap.cli import main


def run_alone(script: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", BLOCKED, str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=script.parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


BLOCKED = "import runpy, sys; sys.modules['fxdap'] = None; runpy.run_path(sys.argv[1])"


@pytest.mark.parametrize(
    ("sample", "node", "starts"),
    [
        ("mlp.py:MLP", "relu", ["linear"]),
        ("cnn.py:model", "add", []),
        ("nested.py:model", "layer_1", ["layer"]),
    ],
)
def test_a_node_of_a_sample_runs_alone(
    sample: str, node: str, starts: list[str], sample_models: Path, tmp_path: Path, capsys
):
    output = tmp_path / "repro.py"
    words = ["repro", str(sample_models / sample), "--at", node, "-o", str(output)]
    for start in starts:
        words += ["--from", start]
    code = main(words)
    notes = capsys.readouterr().err
    assert code == 0, notes
    assert f"%{node} gave " in notes
    assert run_alone(output).startswith("tensor(")


def test_without_o_the_script_goes_to_stdout(sample_models: Path, capsys):
    assert main(["repro", str(sample_models / "mlp.py:MLP"), "--at", "relu"]) == 0
    text, _ = capsys.readouterr()
    assert text.endswith("print(relu)\n")
    compile(text, "repro.py", "exec")


def test_a_wrong_node_is_a_usage_error(sample_models: Path, capsys):
    assert main(["repro", str(sample_models / "mlp.py:MLP"), "--at", "rely"]) == 2
    assert "the graph has no node 'rely'; did you mean 'relu'?" in capsys.readouterr().err
