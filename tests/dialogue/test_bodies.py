"""Stepping into branches and loops that are graphs of their own."""

from pathlib import Path

from fxdap.wire.messages import StackFrame
from tests.dialogue.conftest import Connect


def listing(frame: StackFrame) -> Path:
    assert frame.source is not None
    return Path(str(frame.source.path))


def test_steps_into_the_branch_of_a_cond_and_out_of_it(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("cond", graph="control_flow.py:branch", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "cond")
    dialogue.go("stepIn")
    dialogue.stopped("step", "true_graph_0/x")
    dialogue.go("next")
    dialogue.stopped("step", "true_graph_0/sin")
    nodes = [frame for frame in dialogue.stack() if frame.name.startswith("%")]
    assert [frame.name for frame in nodes] == ["%true_graph_0/sin  aten.sin.default", "%cond  cond"]
    assert dialogue.value("sum_1.item()") == "3.0"
    dialogue.go("stepOut")
    dialogue.stopped("step", "getitem")
    text = listing(nodes[0]).read_text().splitlines()
    assert text[nodes[0].line - 1].strip().startswith("true_graph_0/%sin: f32[4, 3]")
    dialogue.go("continue")
    dialogue.ended()


def test_breakpoints_in_a_loop_stop_in_each_iteration(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch(graph="control_flow.py:loop")
    dialogue.stopped("entry", "x")
    file = listing(dialogue.stack()[0])
    lines = file.read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "body_graph_0/%mul:" in text)
    (breakpoint,) = dialogue.break_at(file, line)
    assert breakpoint.verified
    for iteration in (1, 2, 3):
        dialogue.go("continue")
        dialogue.stopped("breakpoint", "while_loop_body_graph_0/mul")
        assert dialogue.stack()[0].name.endswith(f"(iteration {iteration})")
        assert dialogue.value("arg0_1.item()") == str(iteration - 1)
    dialogue.go("stepOut")
    dialogue.stopped("step", "getitem")
    dialogue.go("continue")
    dialogue.ended()


def test_a_loop_is_stepped_into_and_from_one_iteration_to_the_next(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("while_loop", graph="control_flow.py:loop", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "while_loop")
    dialogue.go("stepIn")
    dialogue.stopped("step", "while_loop_cond_graph_0/arg0_1")
    for node in ("arg1_1", "sum_1", "lt", "output"):
        dialogue.go("next")
        dialogue.stopped("step", f"while_loop_cond_graph_0/{node}")
    dialogue.go("next")
    dialogue.stopped("step", "while_loop_body_graph_0/arg0_1")
    dialogue.go("stepOut")
    dialogue.stopped("step", "getitem")
    dialogue.go("continue")
    dialogue.ended()


def test_a_module_is_traced_and_entered_by_step_in_or_as_a_target(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("encoder", "counting", graph="leaves.py:model", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "encoder")
    dialogue.go("stepIn")
    dialogue.stopped("step", "input_1")
    assert [f.name for f in dialogue.stack() if f.name[0] == "%"][1:] == ["%encoder  encoder"]
    dialogue.go("stepOut")
    dialogue.stopped("step", "scaled")
    targets = dialogue.client.request("stepInTargets", {"frameId": dialogue.frame}).targets
    assert [target.label.partition("  ")[0] for target in targets] == ["scaled", "Scaled.forward"]
    chosen = {"threadId": dialogue.thread, "targetId": targets[0].id}
    dialogue.client.request("stepIn", chosen)
    dialogue.stopped("step", "x")
    assert dialogue.stack()[0].name.startswith("%x")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "counting")
    chosen = {"threadId": dialogue.thread, "targetId": 1}
    dialogue.client.request("stepIn", chosen)
    dialogue.stopped("step", "rising")
    assert "its forward sets calls" in dialogue.client.output("important")
    dialogue.go("continue")
    dialogue.ended()


def test_a_checkpoint_is_stepped_again_in_the_backward(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("target:torch.sin", program="checkpoint.py", stopOnEntry=False)
    for callers in (1, 0):
        dialogue.stopped("function breakpoint")
        nodes = [frame.name for frame in dialogue.stack() if frame.name.startswith("%")]
        assert nodes[0].startswith("%wrap_body_0/sin")
        assert len(nodes) == 1 + callers
        dialogue.go("continue")
    dialogue.ended()
