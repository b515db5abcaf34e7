"""What a stop shows: stack, scopes, variables."""

from pathlib import Path

from fxdap.wire.messages import Variable
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue

LONG = """\
import torch
from torch import fx, nn


class Block(nn.Module):
    def forward(self, x):
        for _ in range(3):
            x = x + 1
        return x


class Long(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(150))
        self.weight = nn.Parameter(torch.ones(300, 2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        for _ in range(600):
            x = x * 1.0
        return x.sum() + self.weight.sum()


graph = fx.symbolic_trace(Long())
print(graph(torch.arange(600.0).reshape(300, 2)).item())
"""

LISTED = ["Node", "Env", "Module", "Meta"]


def test_env_shows_a_thousand_values_under_their_listing_names_in_small_groups(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("op:output", program=script(LONG), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "output")
    source = dialogue.stack(levels=1)[0].source
    assert source is not None
    text = Path(source.path or "").read_text()
    listed = {line.split()[0].strip("%:") for line in text.splitlines() if "%" in line}
    direct = dialogue.scope("Env")
    assert len(direct) <= 100
    assert {"inputs", "parameters"} <= set(direct)
    assert all(
        v.value.endswith((" values", " value", "modules"))
        for n, v in direct.items()
        if n not in listed
    )
    found = every_value(dialogue, direct)
    assert found == listed - {"output"}
    dialogue.go("continue")
    dialogue.ended()


def every_value(dialogue: Dialogue, level: dict[str, Variable]) -> set[str]:
    """The names of all values below, each found in one place; groups are opened."""
    found: set[str] = set()
    for name, variable in level.items():
        hint = variable.presentation_hint
        if hint is not None and hint.kind == "virtual":
            children = dialogue.children(variable.variables_reference)
            assert 0 < len(children) <= 100
            found |= every_value(dialogue, children)
        else:
            assert variable.evaluate_name == name
            found.add(name)
    return found


def test_tensors_open_by_page_and_statistics_wait_for_a_click(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("add_1", program=script(LONG), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "add_1")
    env = dialogue.scope("Env")
    [x] = dialogue.children(env["inputs"].variables_reference).values()
    assert (x.name, x.indexed_variables) == ("x", 300)
    assert x.value == "f32[300, 2] cpu  min 0  max 599  mean 299.5"
    page = dialogue.children(x.variables_reference, filter="indexed", start=298, count=5)
    assert list(page) == ["[298]", "[299]"]
    assert page["[299]"].evaluate_name == "x[299]"
    row = dialogue.children(page["[299]"].variables_reference, filter="indexed")
    assert [(n, v.value) for n, v in row.items()] == [("[0]", "598.0"), ("[1]", "599.0")]
    facts = dialogue.children(x.variables_reference, filter="named")
    assert {"shape", "dtype", "device", "statistics"} <= set(facts)
    statistics = facts["statistics"]
    assert statistics.presentation_hint is not None
    assert statistics.presentation_hint.lazy is True
    [computed] = dialogue.children(statistics.variables_reference).values()
    assert "mean 299.5" in computed.value
    first = dialogue.scopes()
    assert list(first) == LISTED
    expensive = {name: scope.expensive for name, scope in first.items()}
    assert expensive == {"Node": False, "Env": False, "Module": True, "Meta": True}
    assert "f32[300, 2]" in dialogue.scope("Module")["weight"].value
    dialogue.go("next")
    dialogue.stopped("step", "add_2")
    second = dialogue.scopes()
    assert list(second) == ["Node", "Returned", *LISTED[1:]]
    assert [second[n].variables_reference for n in LISTED] == [
        first[n].variables_reference for n in LISTED
    ]
    assert second["Returned"].presentation_hint == "returnValue"
    assert list(dialogue.scope("Returned")) == ["add_1"]
    again = dialogue.scope("Env")["inputs"]
    assert again.variables_reference == env["inputs"].variables_reference
    dialogue.client.request("disconnect")


def test_the_module_of_a_frame_opens_as_a_tree(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("relu", graph="mlp.py:MLP", capture="symbolic_trace", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "relu")
    module = dialogue.scope("Module")
    fc1 = module["fc1"]
    assert fc1.evaluate_name == "module.fc1"
    weight = dialogue.children(fc1.variables_reference)["weight"]
    assert "f32[16, 8]" in weight.value
    assert dialogue.value(f"{weight.evaluate_name}.shape == (16, 8)") == "True"
    node = dialogue.scope("Node")
    assert node["target"].value == "torch.relu"
    stack = dialogue.stack()
    for frame in stack:
        for scope in dialogue.scopes(frame.id).values():
            dialogue.children(scope.variables_reference)
    dialogue.client.request("disconnect")


def test_what_belongs_to_an_earlier_stop_is_refused(dialogue: Dialogue) -> None:
    dialogue.launch(graph="mlp.py:MLP", capture="symbolic_trace")
    dialogue.stopped("entry", "x")
    frame = dialogue.frame
    module = dialogue.evaluate("module").variables_reference
    assert dialogue.children(module)
    dialogue.go("next")
    dialogue.stopped("step", "fc1")
    for command, arguments in {
        "scopes": {"frameId": frame},
        "evaluate": {"expression": "x", "frameId": frame},
        "completions": {"text": "x", "column": 2, "frameId": frame},
    }.items():
        assert dialogue.refused(command, arguments) == (
            f"stack frame {frame} is unknown or out of date"
        )
    assert "is unknown or out of date" in dialogue.refused(
        "variables", {"variablesReference": module}
    )
    assert "is unknown" in dialogue.refused("variables", {"variablesReference": 7})
    assert dialogue.scope("Node")
    dialogue.go("continue")
    dialogue.ended()


def test_the_stack_is_given_in_parts(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch(
        "blocks_1_attn_qkv", graph="gpt.py:GPT", capture="symbolic_trace", stopOnEntry=False
    )
    dialogue.stopped("function breakpoint")
    body = dialogue.client.request(
        "stackTrace", {"threadId": dialogue.thread, "startFrame": 0, "levels": 2}
    )
    whole = dialogue.stack()
    assert body.total_frames == len(whole) >= 5
    assert [f.id for f in body.stack_frames] == [f.id for f in whole[:2]]
    assert [f.name for f in dialogue.stack(2, 2)] == [f.name for f in whole[2:4]]
    assert dialogue.stack(len(whole), 20) == []
    assert dialogue.stack(1, 0) == whole[1:]
    block = next(f for f in whole if f.name == "blocks.1  Block")
    env = dialogue.scopes(block.id)
    assert list(env) == ["Env", "Module"]
    assert "blocks_1_ln1" in dialogue.children(env["Env"].variables_reference)
    module = dialogue.children(env["Module"].variables_reference)
    assert module["attn"].evaluate_name == "module.blocks[1].attn"
    dialogue.client.request("disconnect")


def test_the_users_own_interpreter_is_a_scope(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("chunk", program="script.py", stopOnEntry=False)
    seen = []
    for _ in range(3):
        dialogue.stopped("function breakpoint", "chunk")
        seen.append("Interpreter" in dialogue.scopes())
        if not seen[-1]:
            dialogue.go("continue")
    assert seen == [False, False, True]
    own = dialogue.scope("Interpreter")
    assert own["seen"].evaluate_name == "self.seen"
    assert dialogue.value("type(self).__name__, self.seen['placeholder']") == "('Profile', 1)"
    dialogue.go("continue")
    dialogue.ended()
    assert "equal: True\n" in dialogue.client.output("stdout")


WRITES = """\
import torch
from torch import fx, nn


@fx.wrap
def behind_torchs_back(x):
    x.numpy()[0] = -1
    return x


class Net(nn.Module):
    def forward(self, x):
        kept = x + 1
        written = x * 2
        written.add_(10)
        behind_torchs_back(written)
        return kept + written


fx.symbolic_trace(Net())(torch.arange(3.0))
"""


def test_rows_that_were_shown_before_are_shown_as_they_are_now(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("add_", program=script(WRITES), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "add_")
    before = dialogue.scope("Env")
    assert before["mul"].value == "f32[3] cpu  min 0  max 4  mean 2"
    dialogue.go("next")
    dialogue.stopped("step", "behind_torchs_back")

    after = dialogue.scope("Env")
    assert after["mul"].value == "f32[3] cpu  min 10  max 14  mean 12  changed by %add_"
    assert after["add"] == before["add"]
    assert elements(dialogue, after["add"]) == ["1.0", "2.0", "3.0"]
    assert elements(dialogue, after["mul"]) == ["10.0", "12.0", "14.0"]

    dialogue.evaluate("add.numpy()[0] = 7", "repl")
    assert dialogue.scope("Env")["add"].value == "f32[3] cpu  min 2  max 7  mean 4"
    assert dialogue.value("add.numpy().fill(5)") == "None"
    assert dialogue.scope("Env")["add"].value == "f32[3] cpu  min 5  max 5  mean 5"
    dialogue.evaluate("add = torch.zeros(2)", "repl")
    edited = dialogue.scope("Env")["add"]
    assert edited.value == "f32[2] cpu  min 0  max 0  mean 0"
    assert elements(dialogue, edited) == ["0.0", "0.0"]
    dialogue.evaluate("add = torch.zeros(3)", "repl")
    dialogue.go("next")
    dialogue.stopped("step", "add_1")
    written = dialogue.scope("Env")["mul"].value
    assert written == "f32[3] cpu  min -1  max 14  mean 8.333  changed by %add_"
    dialogue.go("continue")
    dialogue.ended()


def elements(dialogue: Dialogue, tensor: Variable) -> list[str]:
    """What a row shows when it is opened."""
    found = dialogue.children(tensor.variables_reference, filter="indexed")
    return [each.value for each in found.values()]


def test_a_row_shows_what_a_condition_has_written(connect: Connect, script: Script) -> None:
    dialogue = connect()
    dialogue.launch("mul", program=script(WRITES), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "mul")
    assert dialogue.scope("Env")["add"].value == "f32[3] cpu  min 1  max 3  mean 2"

    dialogue.break_on({"name": "add_", "condition": "add.numpy().fill(7) is None"})
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "add_")
    assert dialogue.scope("Env")["add"].value == "f32[3] cpu  min 7  max 7  mean 7"
    dialogue.go("continue")
    dialogue.ended()
