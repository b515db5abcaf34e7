"""Graphs of torch.compile in whole sessions, on `sample_models/compiled.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.dialogue.conftest import Connect, Listen
from tests.dialogue.dialogue import PATIENCE

BLOCK, SECOND = 20, 37
"""The lines `return x + self.down(torch.relu(self.up(x)))` and `return self.second(x)`."""


LAYERS = ("first.up", "first.down", "second.up", "second.down")


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
    dialogue.break_on("graph:*.backward op:output")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "output")
    returned = [name.partition(" ←")[0] for name in dialogue.scope("Node")][1:]
    parameters = [f"{layer}.{kind}" for layer in LAYERS for kind in ("weight", "bias")]
    assert returned == [f"gradient of {name}" for name in parameters]
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


GUEST = """
import threading, torch, fxdap
from fxdap.graphs.compile.active import ACTIVE

weight = torch.tensor([2.0, 3.0], requires_grad=True)


def model(x):
    return torch.relu(x * weight).sum()


compiled = torch.compile(model, backend="fxdap_aot")


def step():
    weight.grad = None
    compiled(torch.tensor([1.0, -1.0])).backward()
    return weight.grad.tolist()


print(step(), flush=True)
before = torch.compile
fxdap.listen(token="secret")
fxdap.wait_for_client()
slow = threading.Thread(target=lambda: print(step(), flush=True), name="slow")
slow.start()
quick = [torch.compile(f, backend="fxdap") for f in (torch.sin, torch.cos)]
threads = [threading.Thread(target=f, args=(torch.ones(2),)) for f in quick]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("others compiled, slow runs:", slow.is_alive(), flush=True)
slow.join()
print(step(), torch.compile is before, ACTIVE.debugger, flush=True)
"""
"""Compiles before a client is there; then two threads compile while a third one is stopped."""


def test_graphs_compiled_before_a_client_came_are_debugged_and_hold_up_no_other_thread(
    listen: Listen,
) -> None:
    listening = listen(GUEST)
    assert listening.lines(1) == ["[1.0, -0.0]"]
    dialogue = listening.connect()
    dialogue.initialize()
    seq = dialogue.client.send("attach", {"token": "secret"})
    dialogue.client.wait_event("initialized", timeout=PATIENCE)
    [known] = dialogue.break_on("graph:*.backward target:aten.threshold_backward")
    assert known.verified
    dialogue.run(seq)
    dialogue.stopped("function breakpoint", "threshold_backward")
    threads = dialogue.client.request("threads").threads
    assert [t.name for t in threads if t.id == dialogue.thread] == ["slow"]
    assert listening.lines(1) == ["others compiled, slow runs: True"]
    assert dialogue.value("tangents_1.item()") == "1.0"
    dialogue.client.request("disconnect")
    assert listening.lines(2) == ["[1.0, -0.0]", "[1.0, -0.0] True None"]
    dialogue.close()
    assert "Traceback" not in listening.errors()
