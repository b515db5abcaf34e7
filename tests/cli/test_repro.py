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


OWN = """\
import torch
from torch import fx, nn


@fx.wrap
def shifted(x):
    return x + 3


class Leaf(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((2,), 5.0))

    def forward(self, x):
        return x * self.weight


class Tracer(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, Leaf)


def model():
    root = nn.Sequential(Leaf())
    graph = Tracer().trace(root)
    last = next(n for n in graph.nodes if n.op == "call_module")
    with graph.inserting_after(last):
        own = graph.call_function(shifted, (last,))
    last.replace_all_uses_with(own, delete_user_cb=lambda user: user is not own)
    return fx.GraphModule(root, graph), (torch.ones(2),)


if __name__ == "__main__":
    module, inputs = model()
    print(module(*inputs))
"""


def test_functions_and_modules_of_the_users_are_imported_from_their_file(tmp_path: Path, capsys):
    source = tmp_path / "own.py"
    source.write_text(OWN)
    output = tmp_path / "elsewhere" / "repro.py"
    words = ["repro", f"{source}:model", "--at", "shifted", "--from", "_0", "-o", str(output)]
    assert main(words) == 0, capsys.readouterr().err
    assert run_alone(output) == "tensor([8., 8.], grad_fn=<AddBackward0>)\n"
