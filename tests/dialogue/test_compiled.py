"""Graphs of torch.compile in whole sessions, on `sample_models/compiled.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.dialogue.conftest import Connect

BLOCK, SECOND = 20, 37
"""The lines `return x + self.down(torch.relu(self.up(x)))` and `return self.second(x)`."""


@pytest.fixture(scope="module")
def plain_output(repo_root: Path) -> str:
    """What the sample prints without a debugger."""
    command = [sys.executable, "sample_models/compiled.py"]
    done = subprocess.run(command, cwd=repo_root, capture_output=True, text=True, check=True)
    return done.stdout


def test_losses_are_the_same_to_the_bit_when_stepping_in_the_backward_of_step_7(
    connect: Connect, sample_models: Path, plain_output: str
) -> None:
    dialogue = connect()
    seq = dialogue.begin(program="compiled.py", compile="aot", stopOnEntry=False)
    dialogue.client.request(
        "setFunctionBreakpoints",
        {
            "breakpoints": [
                {
                    "name": "graph:*.backward target:aten.threshold_backward module:second",
                    "hitCondition": "== 8",
                }
            ]
        },
    )
    dialogue.run(seq)
    dialogue.stopped("function breakpoint", "threshold_backward")
    top, block, graph = dialogue.stack()[:3]
    assert top.source is not None
    assert top.source.name == "compiled.Net.backward.fxgraph"
    assert (block.name, block.line) == ("second  Block", BLOCK)
    assert (graph.name, graph.line) == ("compiled.Net.backward", SECOND)
    assert dialogue.value("tangents_1.shape") == "torch.Size([16, 8])"
    dialogue.go("next")
    dialogue.stopped("step", "t_2")
    assert dialogue.value("(threshold_backward != 0).equal((mm != 0) & (relu_1 > 0))") == "True"
    dialogue.go("stepOut")
    dialogue.stopped("step", "add_2")
    assert dialogue.client.output("stdout").splitlines() == plain_output.splitlines()[:7]
    dialogue.go("continue")
    dialogue.ended(0)
    assert dialogue.client.output("stdout") == plain_output


def test_a_line_of_python_stops_in_its_forward_and_its_backward_and_a_step_leads_over(
    connect: Connect, sample_models: Path
) -> None:
    dialogue = connect()
    seq = dialogue.begin(program="compiled.py", compile="aot")
    [pending] = dialogue.break_at(sample_models / "compiled.py", SECOND)
    assert not pending.verified
    dialogue.run(seq)
    dialogue.stopped("entry", "primals_1")
    backward = dialogue.client.request("loadedSources").sources
    dialogue.go("continue")
    dialogue.stopped("breakpoint", "t_2")
    assert dialogue.stack()[3].name == "compiled.Net.forward"
    dialogue.break_at(sample_models / "compiled.py")
    dialogue.break_on("graph:*.forward op:output")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "output")
    dialogue.go("next")
    dialogue.stopped("step", "primals_3")
    assert [f.name for f in dialogue.stack()][1:3] == ["compiled.Net.backward", "train"]
    assert len(backward) == 2
    dialogue.break_on()
    dialogue.break_at(sample_models / "compiled.py", SECOND)
    dialogue.go("continue")
    dialogue.stopped("breakpoint", "t_3")
    assert dialogue.stack()[1].name == "second.down  Linear"
    dialogue.client.request("disconnect", {"terminateDebuggee": True})


def test_graph_breaks_and_recompilations_are_told_with_their_reasons(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch(
        "graph:compiled.Net-3 target:torch.relu",
        program="compiled.py",
        compile="dynamo",
        stopOnEntry=False,
    )
    dialogue.stopped("function breakpoint", "relu")
    assert dialogue.stack()[1].name == "second  Block"
    told = [e.body for e in dialogue.client.events if e.name == "output" and e.body.source]
    texts = [body.output for body in told]
    assert texts[0].startswith("'compile' is 'dynamo': the torch.compile at compiled.py:48 is")
    assert any('breaks at compiled.py:36 `print("rows:", x.shape[0])`: Fa' in t for t in texts)
    assert {(body.source.name, body.line) for body in told} >= {("compiled.py", 36)}
    dialogue.break_on()
    dialogue.go("continue")
    dialogue.ended(0)
    again = "torch.compile: Net.forward (compiled.py:33) is compiled again, as Net-"
    output = dialogue.client.output("console")
    assert f"{again}2: self.verbose == False no longer holds (`if self.verbose:` at" in output
    assert f"{again}4: tensor 'x' size mismatch at index 0. expected 16, actual 5" in output
