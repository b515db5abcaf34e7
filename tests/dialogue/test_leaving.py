"""Leaving a program: it runs on, ends, or stays paused for the next client."""

from pathlib import Path

import pytest

from tests.dialogue.conftest import Connect, Listen
from tests.dialogue.dialogue import PATIENCE, Dialogue
from tests.dialogue.listening import FOREVER, Listening

SCRIPT = """
import sys
import torch
from pathlib import Path

module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
result = module(torch.tensor([-1.0, 2.0]))
Path(sys.argv[1]).write_text(str(result.tolist()))
"""


def test_a_program_that_is_not_to_be_terminated_runs_to_its_end(
    connect: Connect, tmp_path: Path
) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out.txt"
    script.write_text(SCRIPT)
    dialogue = connect()
    dialogue.launch(program=str(script), args=[str(out)])
    dialogue.stopped("entry", "x")
    dialogue.client.request("disconnect", {"terminateDebuggee": False})
    dialogue.client.wait_exit(60)
    assert out.read_text() == "[1.0, 3.0]"


PAUSED = """
import torch, fxdap

def forward(x):
    return torch.neg(torch.relu(x.add_(1)).mul_(2))

graph = torch.fx.symbolic_trace(forward)
fxdap.listen(token="secret")
fxdap.wait_for_client()
fxdap.breakpoint()
print(graph(torch.ones(2)).tolist(), flush=True)
print(graph(torch.ones(2)).tolist(), flush=True)
"""


@pytest.fixture
def listening(listen: Listen) -> Listening:
    return listen(PAUSED)


def test_a_graph_left_paused_is_found_as_it_was(
    listening: Listening,
) -> None:
    first = listening.connect()
    first.initialize()
    first.attach()
    first.stopped("entry", "x")
    first.break_on("neg", "output")
    first.go("continue")
    first.stopped("function breakpoint", "neg")
    first.client.request("setExpression", {"expression": "mul_[0]", "value": "5"})
    first.client.request("disconnect", {"suspendDebuggee": True})
    first.close()

    second = listening.connect()
    second.initialize()
    second.attach(stopOnEntry=True)
    second.stopped("function breakpoint", "neg")
    assert second.value("mul_.tolist()") == "[5.0, 4.0]"
    assert len(second.client.request("loadedSources").sources) == 1
    for text, node in (("undid the change of mul_[0]", "neg"), ("", "mul_"), ("", "relu")):
        second.go("stepBack")
        assert (second.stopped("step", node).text or "") == text
    second.go("continue")
    assert listening.lines(2) == ["[-4.0, -4.0]"] * 2
    second.client.wait_end()
    second.close()


def test_a_program_left_paused_goes_on_when_the_next_client_leaves(listening: Listening) -> None:
    for wish in ({"suspendDebuggee": True}, {}):
        dialogue = listening.connect()
        dialogue.initialize()
        dialogue.attach()
        dialogue.stopped("entry", "x")
        dialogue.client.request("disconnect", wish)
        dialogue.close()
    assert listening.lines(2) == ["[-4.0, -4.0]"] * 2


def say_goodbye_twice(dialogue: Dialogue) -> None:
    sent = [dialogue.client.send("disconnect", {}) for _ in range(2)]
    for seq in sent:
        dialogue.client.wait_response(seq)


def test_disconnect_is_answered_again_while_the_session_closes(
    connect: Connect, listen: Listen
) -> None:
    dialogue = connect()
    dialogue.launch(graph="mlp.py:MLP")
    dialogue.stopped("entry")
    text = dialogue.refused("disconnect", {"suspendDebuggee": True, "terminateDebuggee": False})
    assert text.startswith("disconnect: a launched program cannot stay paused")
    say_goodbye_twice(dialogue)
    dialogue.client.wait_exit(PATIENCE)

    attached = listen(FOREVER).connect()
    attached.initialize()
    attached.attach(stopOnEntry=True)
    attached.stopped("entry", "x")
    say_goodbye_twice(attached)
    attached.client.request("disconnect", {})
    assert attached.refused("threads", {}) == "the session is closed"
    attached.close()
