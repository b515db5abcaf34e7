"""Going back, starting over, jumping and changing values, through the real adapter."""

import base64
import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fxdap.wire.client import DapClient
from fxdap.wire.messages import StoppedEventBody
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import PATIENCE, Dialogue

GRAPH = "time_travel.py:TimeTravel"


@pytest.fixture(scope="module")
def session(sample_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialogue]:
    """The sample, stopped before its first node; one launch for all tests."""
    cache = str(tmp_path_factory.mktemp("cache"))
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "OMP_NUM_THREADS": "1"}
    client = DapClient.spawn([sys.executable, "-m", "fxdap.adapter"], env=environment)
    dialogue = Dialogue(client, sample_models)
    dialogue.abilities = dict.fromkeys(
        ["supportsMemoryReferences", "supportsMemoryEvent", "supportsProgressReporting"], True
    )
    dialogue.launch(graph=GRAPH, capture="symbolic_trace")
    dialogue.stopped("entry", "x")
    yield dialogue
    dialogue.close()


@pytest.fixture
def stopped(session: Dialogue) -> Dialogue:
    """Before the first node, with everything as it was when the run began."""
    session.break_on()
    session.stack()
    session.client.request("restartFrame", {"frameId": session.frame})
    session.stopped("restart", "x")
    return session


def run_to(dialogue: Dialogue, node: str) -> None:
    dialogue.break_on(node)
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", node)


def numbers(dialogue: Dialogue, *names: str) -> list[str]:
    return [dialogue.value(f"str({name}.tolist())") for name in names]


def test_step_back_undoes_writes_views_random_draws_and_statistics_bit_for_bit(
    stopped: Dialogue,
) -> None:
    everything = ("mul", "getitem", "norm", "drop")
    run_to(stopped, "head")
    after = [*numbers(stopped, *everything), stopped.value("module.norm.num_batches_tracked")]
    for node in ("drop", "relu", "norm", "add_"):
        stopped.go("stepBack")
        stop = stopped.stopped("step", node)
        assert stop.description == "Stepped back"
    before = numbers(stopped, "mul", "getitem")
    assert before != after[:2]
    assert "0" in stopped.value("module.norm.num_batches_tracked")
    assert "has not run yet" in stopped.refused(
        "evaluate", {"expression": "norm", "frameId": stopped.frame}
    )
    stopped.go("continue")
    stopped.stopped("function breakpoint", "head")
    again = [*numbers(stopped, *everything), stopped.value("module.norm.num_batches_tracked")]
    assert again == after


def test_steps_back_that_come_at_once_are_taken_one_after_the_other(stopped: Dialogue) -> None:
    run_to(stopped, "norm")
    sent = [stopped.client.send("stepBack", {"threadId": stopped.thread}) for _ in range(3)]
    for seq in sent:
        stopped.client.wait_response(seq)
    for _ in sent[1:]:
        stopped.client.wait_event("stopped")
    stopped.stopped("step", "mul")


def test_a_step_back_by_lines_undoes_all_nodes_of_a_line(stopped: Dialogue) -> None:
    run_to(stopped, "head")
    stopped.client.request("stepBack", {"threadId": stopped.thread, "granularity": "line"})
    stopped.stopped("step", "relu")
    assert stopped.value("norm.shape") == "torch.Size([4, 6])"


def test_env_says_which_node_changed_a_value_in_place(stopped: Dialogue) -> None:
    run_to(stopped, "norm")
    env = stopped.scope("Env")
    assert env["mul"].value.endswith("changed by %add_")
    assert env["getitem"].value.endswith("changed by %add_")
    assert "changed by" not in env["add_"].value


def test_there_is_nothing_before_the_first_node(stopped: Dialogue) -> None:
    text = stopped.refused("stepBack", {"threadId": stopped.thread})
    assert text == "cannot go there: this is where the run of time_travel.TimeTravel began"
    stopped.go("next")
    stopped.stopped("step", "fc")


def test_reverse_continue_stops_where_a_condition_held_and_then_at_entry(
    stopped: Dialogue,
) -> None:
    run_to(stopped, "head")
    stopped.break_on(
        {"name": "fc"},
        {"name": "norm", "condition": "mul.min() > 1e9"},
        {"name": "after:mul", "condition": "mul.shape == (4, 6)"},
    )
    stopped.go("reverseContinue")
    stopped.stopped("function breakpoint", "mul")
    assert "mul" in stopped.scope("Returned")
    stopped.go("reverseContinue")
    stopped.stopped("function breakpoint", "fc")
    stopped.go("reverseContinue")
    assert stopped.stopped("entry", "x").text == "time_travel.TimeTravel began here"


def test_reverse_continue_counts_hits_as_the_run_did(connect: Connect, script: Script) -> None:
    dialogue = connect()
    path = script(CHAIN)
    seq = dialogue.begin(program=path, stopOnEntry=False)
    dialogue.break_on({"name": "add*", "hitCondition": "% 2"}, "output")
    dialogue.run(seq)
    for node in ("add_1", "add_3", "add_5", "output"):
        dialogue.stopped("function breakpoint", node)
        dialogue.go("continue" if node != "output" else "reverseContinue")
    for node in ("add_5", "add_3", "add_1"):
        dialogue.stopped("function breakpoint", node)
        dialogue.go("reverseContinue")
    dialogue.stopped("entry", "x")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "add_1")


CHAIN = """
import torch
from torch import fx

graph = fx.Graph()
value = graph.placeholder("x")
for _ in range(6):
    value = graph.call_function(torch.add, (value, 1))
graph.output(value)
module = fx.GraphModule(torch.nn.Module(), graph)
print(float(module(torch.zeros(()))))
"""


def test_restart_frame_begins_again_with_state_and_random_numbers_as_at_entry(
    stopped: Dialogue,
) -> None:
    run_to(stopped, "head")
    first = [*numbers(stopped, "norm", "drop"), stopped.value("module.norm.running_mean")]
    stopped.client.request("restartFrame", {"frameId": stopped.frame})
    stopped.stopped("restart", "x")
    assert "0" in stopped.value("module.norm.num_batches_tracked")
    stopped.go("continue")
    stopped.stopped("function breakpoint", "head")
    assert [*numbers(stopped, "norm", "drop"), stopped.value("module.norm.running_mean")] == first


def targets(dialogue: Dialogue, node: str) -> dict[str, int]:
    """The ways to a node's line in the listing, by their labels."""
    source = dialogue.stack(levels=1)[0].source
    assert source is not None
    assert source.path is not None
    lines = Path(source.path).read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if re.match(rf"\s*%{node}\b", text))
    body = dialogue.client.request("gotoTargets", {"source": {"path": source.path}, "line": line})
    return {target.label: target.id for target in body.targets}


def jump(dialogue: Dialogue, node: str, label: str) -> StoppedEventBody:
    found = targets(dialogue, node)
    dialogue.client.request("goto", {"threadId": dialogue.thread, "targetId": found[label]})
    return dialogue.stopped("goto", node)


def test_a_jump_back_undoes_and_a_jump_ahead_runs_or_skips(stopped: Dialogue) -> None:
    run_to(stopped, "add_")
    assert list(targets(stopped, "mul")) == ["Go back to %mul, undoing 2 nodes"]
    jump(stopped, "mul", "Go back to %mul, undoing 2 nodes")
    assert list(targets(stopped, "norm")) == [
        "Run on to %norm",
        "Skip to %norm, leaving %mul unset",
    ]
    stopped.break_on()
    jump(stopped, "norm", "Run on to %norm")
    assert list(targets(stopped, "relu")) == [
        "Run on to %relu",
        "Skip to %relu, leaving %norm unset",
    ]


def test_a_node_that_reads_what_a_jump_left_unset_says_so_until_it_is_set(
    stopped: Dialogue,
) -> None:
    run_to(stopped, "norm")
    jump(stopped, "relu", "Skip to %relu, leaving %norm unset")
    assert stopped.scope("Env")["norm"].value == "skipped by a jump"
    stopped.go("next")
    text = stopped.stopped("exception", "relu").text
    assert text is not None
    assert "%relu reads %norm, which is unset: a jump went past it" in text
    stopped.go("stepBack")
    stopped.stopped("step", "relu")
    env = stopped.scopes()["Env"].variables_reference
    changed = set_variable(stopped, env, "norm", "torch.ones(4, 6)")
    assert changed.value.startswith("f32[4, 6]")
    stopped.go("next")
    stopped.stopped("step", "drop")
    assert stopped.value("relu.sum().item()") == "24.0"


def set_variable(dialogue: Dialogue, reference: int, name: str, value: str) -> Any:
    return dialogue.client.request(
        "setVariable", {"variablesReference": reference, "name": name, "value": value}
    )


def test_a_changed_value_is_what_later_nodes_read_and_a_step_back_undoes_the_change(
    stopped: Dialogue,
) -> None:
    run_to(stopped, "relu")
    old = numbers(stopped, "norm")
    env = stopped.scopes()["Env"].variables_reference
    changed = set_variable(stopped, env, "norm", "norm * 0 - 1")
    assert changed.value.startswith("f32[4, 6]")
    assert changed.type == "torch.Tensor"
    assert stopped.children(changed.variables_reference)["shape"].value == "torch.Size([4, 6])"
    stopped.go("next")
    stopped.stopped("step", "drop")
    assert stopped.value("relu.sum().item()") == "0.0"
    stopped.go("stepBack")
    stopped.stopped("step", "relu")
    assert stopped.value("norm.max().item()") == "-1.0"
    stopped.go("stepBack")
    assert stopped.stopped("step", "relu").text == "undid the change of %norm"
    assert numbers(stopped, "norm") == old


def test_one_element_a_parameter_and_a_buffer_can_be_changed(stopped: Dialogue) -> None:
    run_to(stopped, "norm")
    mul = stopped.scope("Env")["mul"].variables_reference
    row = stopped.children(mul, filter="indexed", start=1, count=1)["[1]"].variables_reference
    assert set_variable(stopped, row, "[2]", "nan").value == "nan"
    assert stopped.value("mul[1, 2].isnan().item(), mul.isnan().sum().item()") == "(True, 1)"
    norm = stopped.children(stopped.scopes()["Module"].variables_reference)["norm"]
    set_variable(stopped, norm.variables_reference, "weight", "torch.zeros(6)")
    set_variable(stopped, norm.variables_reference, "running_mean", "torch.ones(6)")
    assert stopped.value("module.norm.weight.sum().item()") == "0.0"
    assert stopped.value("module.norm.running_mean.sum().item()") == "6.0"
    for what in ("running_mean", "weight", "mul[1][2]"):
        stopped.go("stepBack")
        assert stopped.stopped("step", "norm").text == f"undid the change of {what}"
    assert stopped.value("module.norm.weight.sum().item()") == "6.0"
    assert stopped.value("mul.isnan().any().item()") == "False"


def test_set_expression_takes_any_part_that_python_could_assign_to(stopped: Dialogue) -> None:
    run_to(stopped, "norm")

    def assign(expression: str, value: str) -> str:
        arguments = {"expression": expression, "value": value, "frameId": stopped.frame}
        return str(stopped.client.request("setExpression", arguments).value)

    assert assign("mul[0, 0]", "42").startswith("f32[]")
    assert assign("%getitem", "getitem.long()").startswith("i64[4, 3]")
    refused = {"value": "1", "frameId": stopped.frame}
    text = stopped.refused("setExpression", {"expression": "mul + 1", **refused})
    assert text == "mul + 1 cannot be assigned to: name a value or a part of one"
    text = stopped.refused("setExpression", {"expression": "mul.shape", **refused})
    assert text == "a tensor's shape follows from the tensor: change the tensor itself"
    text = stopped.refused("setExpression", {"expression": "nothing", **refused})
    assert text.startswith("there is no value 'nothing' here")


def test_what_the_console_writes_in_place_is_stepped_back_over(stopped: Dialogue) -> None:
    run_to(stopped, "norm")
    before = numbers(stopped, "mul", "getitem")
    typed = "for _ in range(2):\n    mul.add_(1)\nmul[0] = 3"
    stopped.evaluate(typed, "repl")
    assert numbers(stopped, "mul", "getitem") != before
    stopped.go("stepBack")
    assert stopped.stopped("step", "norm").text == "undid for _ in range(2):..."
    assert numbers(stopped, "mul", "getitem") == before
    stopped.evaluate("getitem.zero_()", "repl")
    assert stopped.value("mul[:, :3].abs().sum().item()") == "0.0"
    stopped.go("stepBack")
    assert stopped.stopped("step", "norm").text == "undid getitem.zero_()"
    assert numbers(stopped, "mul", "getitem") == before


def test_memory_is_told_to_have_changed_and_bytes_written_are_stepped_back_over(
    stopped: Dialogue,
) -> None:
    run_to(stopped, "norm")
    row = stopped.evaluate("mul")
    changed = {"expression": "getitem[0, 1]", "value": "2", "frameId": stopped.frame}
    stopped.client.request("setExpression", changed)

    def of_mul(body: Any) -> bool:
        return bool(body.memory_reference == row.memory_reference)

    event = stopped.client.wait_event("memory", PATIENCE, where=of_mul)
    assert (event.offset, event.count) == (0, 96)
    before = numbers(stopped, "mul", "getitem")
    data = base64.b64encode(struct.pack("<ff", 7.5, -1.0)).decode()
    written = {"memoryReference": row.memory_reference, "offset": 4, "data": data}
    assert stopped.client.request("writeMemory", written).bytes_written == 8
    stopped.client.wait_event("memory", PATIENCE, where=of_mul)
    assert stopped.value("mul[0, 1:3].tolist()") == "[7.5, -1.0]"
    stopped.go("stepBack")
    assert stopped.stopped("step", "norm").text == "undid the change of memory"
    assert numbers(stopped, "mul", "getitem") == before


def test_a_data_breakpoint_is_hit_by_a_change_under_any_name_and_on_the_way_back(
    stopped: Dialogue,
) -> None:
    run_to(stopped, "norm")
    frame = {"frameId": stopped.frame}
    info = stopped.client.request("dataBreakpointInfo", {"name": "mul", **frame})
    wanted = {"breakpoints": [{"dataId": info.data_id, "accessType": "write"}]}
    (data,) = stopped.client.request("setDataBreakpoints", wanted).breakpoints
    stopped.break_on("relu")
    stopped.client.request("setExpression", {"expression": "fc[0, 0]", "value": "1", **frame})
    stopped.client.request("setExpression", {"expression": "getitem[0, 0]", "value": "9", **frame})
    stop = stopped.stopped("data breakpoint", "norm")
    assert stop.hit_breakpoint_ids == [data.id]
    assert stop.text == "the change of getitem[0, 0] wrote into the value"
    stopped.go("continue")
    stopped.stopped("function breakpoint", "relu")
    stopped.go("reverseContinue")
    stopped.stopped("data breakpoint", "norm")
    assert stopped.value("mul[0, 0].item()") == "9.0"
    stopped.go("reverseContinue")
    assert stopped.stopped("data breakpoint", "add_").hit_breakpoint_ids == [data.id]
    stopped.client.request("setDataBreakpoints", {"breakpoints": []})


def test_reverse_continue_stops_at_what_a_filter_stops_at(stopped: Dialogue) -> None:
    run_to(stopped, "head")
    stopped.client.request("setExceptionBreakpoints", {"filters": ["mutation", "nan"]})
    stopped.go("reverseContinue")
    assert (stopped.stopped("exception", "add_").text or "").startswith("%add_ wrote into %getitem")
    assert stopped.exception().exception_id == "InPlaceWrite"
    stopped.client.request("setExceptionBreakpoints", {"filters": []})


def test_going_back_can_be_cancelled_where_it_has_come_to(stopped: Dialogue) -> None:
    run_to(stopped, "head")
    slow = "__import__('time').sleep(0.2)"
    nodes = ("fc", "mul", "getitem", "add_", "norm", "relu", "drop")
    stopped.break_on(*({"name": node, "condition": slow} for node in nodes))
    seq = stopped.client.send("reverseContinue", {"threadId": stopped.thread})
    began = stopped.client.wait_event(
        "progressStart", PATIENCE, where=lambda body: body.title == "Going back"
    )
    stopped.client.request("cancel", {"progressId": began.progress_id})
    stopped.client.wait_response(seq, PATIENCE)
    assert stopped.stopped("step").description == "Going back was cancelled"
    stopped.client.wait_event(
        "progressEnd", PATIENCE, where=lambda body: body.progress_id == began.progress_id
    )
    assert stopped.value("mul.shape") == "torch.Size([4, 6])"


def test_views_are_told_of_a_change_and_metadata_that_it_contradicts_is_named(
    connect: Connect,
) -> None:
    dialogue = connect()
    dialogue.client.request("initialize", {"adapterID": "fxdap", "supportsInvalidatedEvent": True})
    launch = {"graph": "gpt.py:GPT", "capture": "export", "cwd": str(dialogue.folder)}
    seq = dialogue.client.send("launch", launch)
    dialogue.client.wait_event("initialized", timeout=PATIENCE)
    dialogue.break_on("layer_norm")
    dialogue.run(seq)
    dialogue.stopped("entry")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "layer_norm")
    arguments = {"expression": "add", "value": "add.half()", "frameId": dialogue.frame}
    dialogue.client.request("setExpression", arguments)
    assert dialogue.client.wait_event("invalidated", timeout=PATIENCE).areas == ["variables"]
    assert "%add is f16[" in dialogue.client.output()
    assert "the graph's metadata recorded f32[" in dialogue.client.output()


OUTSIDE = """
import torch
from torch import fx

def report(x):
    print("told")
    return x + 1

fx.wrap("report")

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.neg(report(x))

module = fx.symbolic_trace(Model())
module(torch.ones(2))
"""


def test_what_a_step_back_cannot_undo_is_named_in_the_stop(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("neg", program=script(OUTSIDE), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "neg")
    dialogue.go("stepBack")
    text = dialogue.stopped("step", "report").text
    assert text is not None
    assert text.startswith("Not undone: %report runs the Python function report.")


NESTED = """
import torch
from torch import fx

class Body(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x).add_(1)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = fx.symbolic_trace(Body())
    def forward(self, x):
        return torch.neg(self.body(x.mul_(2)))

class Tracer(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, fx.GraphModule)

model = Model()
module = fx.GraphModule(model, Tracer().trace(model))
print(module(torch.ones(2)).tolist())
"""


def test_a_nested_graph_is_one_step_back_and_inside_of_it_node_by_node(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("neg", "add_", program=script(NESTED), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "body/add_")
    for node in ("body/relu", "body/x"):
        dialogue.go("stepBack")
        dialogue.stopped("step", node)
    dialogue.go("stepBack")
    dialogue.stopped("step", "body")
    dialogue.go("stepBack")
    dialogue.stopped("step", "mul_")
    assert dialogue.value("x.tolist()") == "[1.0, 1.0]"
    dialogue.break_on("neg")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "neg")
    dialogue.go("stepBack")
    dialogue.stopped("step", "body")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "neg")
    dialogue.go("continue")
    dialogue.ended()
    assert "[-3.0, -3.0]" in dialogue.client.output()


def test_without_time_travel_going_back_says_what_to_set(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch(graph=GRAPH, capture="symbolic_trace", timeTravel=False)
    dialogue.stopped("entry", "x")
    text = dialogue.refused("stepBack", {"threadId": dialogue.thread})
    assert "timeTravel is false in the launch configuration" in text
