"""A user's own Interpreter through the real adapter: what is wrong with it is said."""

from pathlib import Path

import pytest

from tests.dialogue.conftest import Connect, Script


@pytest.mark.parametrize(
    ("mistake", "node", "cause", "cure"),
    [
        (
            "store_override",
            "x",
            "Recorder.map_nodes_to_values(self, node, value) overrides a method that torch calls",
            "Cure: to store what nodes gave, derive Recorder from fxdap.Interpreter",
        ),
        (
            "freed_value",
            "output",
            "%x was freed by garbage_collect_values after %linear (line 4)",
            "Cure: pass garbage_collect_values=False to keep values",
        ),
    ],
)
def test_a_mistake_is_told_at_the_stop_and_again_when_it_ends_the_program(
    connect: Connect, sample_models: Path, mistake: str, node: str, cause: str, cure: str
) -> None:
    dialogue = connect()
    program = str(sample_models / "mistakes" / f"{mistake}.py")
    dialogue.launch(program=program, stopOnEntry=False)
    stop = dialogue.stopped("exception", node)
    assert cause in (stop.text or "")
    description = dialogue.exception().description or ""
    assert cause in description
    assert cure in description
    dialogue.go("continue")
    said = dialogue.client.wait_event(
        "output", 60, where=lambda body: body.category == "important"
    ).output
    assert cause in said
    assert cure in said
    dialogue.ended(1)


def test_a_mistake_outside_of_a_node_is_told_in_the_console(
    connect: Connect, sample_models: Path
) -> None:
    dialogue = connect()
    dialogue.launch(program=str(sample_models / "mistakes/post_hook.py"), stopOnEntry=False)
    said = dialogue.client.wait_event(
        "output", 60, where=lambda body: body.category == "important"
    ).output
    assert "torch.fx.Interpreter has no 'register_node_post_hook'" in said
    assert "Cure: override run_node(self, n)" in said
    dialogue.ended(1)


OWN = """
import torch
from torch.fx import Interpreter, symbolic_trace

class Scaled(Interpreter):
    scale = 1.0
    def __init__(self, module):
        super().__init__(module)
        self.scale = 2.0
    def call_function(self, target, args, kwargs):
        return super().call_function(target, args, kwargs) * self.scale

def forward(x):
    return torch.neg(torch.relu(x))

own = Scaled(symbolic_trace(forward))
print(own.run(torch.ones(2)).tolist(), own.scale)
"""


def test_an_attribute_of_a_users_interpreter_can_be_changed_and_the_change_undone(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("neg", program=script(OWN), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "neg")
    reference = dialogue.scopes()["Interpreter"].variables_reference
    given = {"variablesReference": reference, "name": "scale"}
    for number in ("7.0", "3.0"):
        answer = dialogue.client.request("setVariable", {**given, "value": number})
        assert answer.value == number
        assert dialogue.value("self.scale") == number
    dialogue.go("stepBack")
    assert dialogue.stopped("step", "neg").text == "undid the change of scale"
    assert dialogue.scope("Interpreter")["scale"].value == "7.0"
    dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[-14.0, -14.0] 7.0\n"


def test_a_value_that_torch_would_not_give_stops_with_both_values(
    connect: Connect, sample_models: Path
) -> None:
    dialogue = connect()
    dialogue.launch(
        program=str(sample_models / "mistakes/other_value.py"),
        stopOnEntry=False,
        verifyInterpreter=True,
    )
    stop = dialogue.stopped("exception", "add")
    assert (stop.text or "").startswith("%add: Caching gave f32[1, 2] cpu")
    assert "; torch gives f32[1, 2] cpu" in (stop.text or "")
    info = dialogue.exception()
    assert info.exception_id == "ValueMismatch"
    assert "at %add = operator.add(%relu, 1)" in (info.description or "")
    assert dialogue.value("torch.equal(add, relu)") == "True"
    dialogue.go("continue")
    dialogue.ended(0)
