"""Steps that come while the step before them is still under way."""

from pathlib import Path

import pytest

from fxdap.wire.envelope import Response
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue

SLOW = """\
import pathlib, time
import torch
from torch import fx, nn

def slow(x):
    while not pathlib.Path(__file__).with_name("go on").exists():
        time.sleep(0.01)
    return x

fx.wrap("slow")

class Model(nn.Module):
    def forward(self, x):
        a = slow(x)
        b = torch.relu(a)
        return b * 2

print(fx.symbolic_trace(Model())(torch.ones(2)).tolist())
"""


@pytest.fixture
def at_slow_node(connect: Connect, script: Script) -> Dialogue:
    """Stopped before a node that ends once `release` was called."""
    dialogue = connect()
    dialogue.launch("slow", program=script(SLOW), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "slow")
    return dialogue


def send(dialogue: Dialogue, *commands: str) -> list[int]:
    """Send requests, none of which waits for the one before; returns once all were read."""
    sent = [dialogue.client.send(command, {"threadId": dialogue.thread}) for command in commands]
    dialogue.client.request("threads")
    return sent


def release(folder: Path) -> None:
    (folder / "go on").touch()


def test_a_step_while_the_step_before_is_under_way_is_taken_from_where_that_lands(
    at_slow_node: Dialogue, tmp_path: Path
) -> None:
    first, second, third = send(at_slow_node, "next", "stepIn", "continue")
    at_slow_node.client.wait_response(first)
    release(tmp_path)
    at_slow_node.client.wait_event("stopped")
    at_slow_node.client.wait_response(second)
    at_slow_node.client.wait_event("stopped")
    at_slow_node.client.wait_response(third)
    at_slow_node.ended()
    assert "[2.0, 2.0]" in at_slow_node.client.output("stdout")


def test_a_breakpoint_before_the_landing_takes_the_steps_that_wait_for_it(
    at_slow_node: Dialogue, tmp_path: Path
) -> None:
    at_slow_node.break_on("relu")
    [out, over, on] = send(at_slow_node, "stepOut", "next", "continue")
    release(tmp_path)
    at_slow_node.stopped("function breakpoint", "relu")
    for seq in (out, over, on):
        at_slow_node.client.wait_response(seq)
    at_slow_node.go("next")
    at_slow_node.stopped("step", "mul")


def test_a_step_while_the_program_runs_freely_is_refused(
    at_slow_node: Dialogue, tmp_path: Path
) -> None:
    at_slow_node.go("continue")
    assert at_slow_node.refused("next", {"threadId": at_slow_node.thread}) == "notStopped"
    release(tmp_path)
    at_slow_node.ended()


def test_a_step_that_waits_when_the_program_ends_is_refused(
    at_slow_node: Dialogue, tmp_path: Path
) -> None:
    _, second = send(at_slow_node, "stepOut", "next")
    release(tmp_path)
    at_slow_node.ended()
    answers = [m for m in at_slow_node.client.messages if isinstance(m, Response)]
    [answer] = [a for a in answers if a.request_seq == second]
    assert (answer.success, answer.message) == (False, "notStopped")
