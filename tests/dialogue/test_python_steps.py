"""Stepping in from a node to the user's Python, and back out to the graph's next node."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialogue.pair import Pair, PythonChild
from tests.dialogue.python_steps import PROGRAM, SAMPLE, line


@pytest.fixture
def pair(environment: dict[str, str], sample_models: Path) -> Iterator[Pair]:
    pair = Pair(environment, sample_models)
    yield pair
    pair.close()


def into(pair: Pair) -> PythonChild:
    """Step in for the first time, which begins the Python session."""
    pair.graph.go("stepIn")
    return pair.child()


def test_step_in_enters_each_kind_of_python_at_its_first_line(pair: Pair) -> None:
    graph = pair.graph
    graph.launch("scale", **PROGRAM)
    graph.stopped("function breakpoint", "scale")

    python = into(pair)
    python.stopped("step", line("largest = "))
    assert python.locals() == {"factor": "2.0", "x": "tensor([0., 1., 4.])"}
    python.go("next")
    python.stopped("step", line("if largest"))
    assert python.locals()["largest"] == "tensor(4.)"
    python.go("stepOut")
    graph.stopped("step", "gate")
    assert graph.value("scale") == "f32[3] cpu  min 0  max 2  mean 0.8333"

    graph.go("stepIn")
    python.stopped("step", line("opening = "))
    assert python.value("type(self).__name__") == "'Gate'"
    python.go("continue")
    graph.stopped("step", "clip")

    graph.go("stepIn")
    python.stopped("step", line("low = "))
    for _ in range(2):
        python.go("next")
        if _ == 0:
            python.stopped("step", line("return x.clamp"))
    graph.stopped("step", "add")
    graph.go("stepIn")
    graph.stopped("step", "output")

    graph.go("continue")
    graph.stopped("function breakpoint", "scale")
    graph.go("stepIn")
    python.stopped("step", line("value = super()"))
    assert python.value("target.__name__") == "'scale'"
    python.go("stepOut")
    graph.stopped("step", "gate")
    graph.go("continue")
    graph.ended(0)
    python.client.wait_event("terminated", 10)
    assert "interpreter [2.0, 4.489837646484375, 5.0]" in graph.client.output("stdout")


def test_targets_name_the_python_of_a_node_and_each_can_be_chosen(pair: Pair) -> None:
    graph = pair.graph
    graph.launch("graph:* scale", **PROGRAM)
    graph.stopped("function breakpoint", "scale")
    graph.go("continue")
    graph.stopped("function breakpoint", "scale")
    targets = graph.client.request("stepInTargets", {"frameId": graph.frame}).targets
    labels = [target.label for target in targets]
    assert labels == [
        f"Doubling.call_function  python_steps.py:{line('def call_function')}",
        f"__main__.scale  python_steps.py:{line('@fx.wrap')}",
    ]
    chosen = {"threadId": graph.thread, "targetId": targets[1].id}
    graph.client.request("stepIn", chosen)
    python = pair.child()
    python.stopped("step", line("largest = "))
    assert [frame.name for frame in python.stack()] == ["scale", "call_function", "<module>"]
    python.leave()
    graph.stopped("step", "gate")
    assert graph.refused("stepIn", {"threadId": graph.thread, "targetId": 1007}) == (
        "stepIn: there is no target 1007 at this node"
    )
    graph.go("continue")
    graph.ended(0)


def test_breakpoints_in_python_stop_before_and_between_graphs(pair: Pair) -> None:
    """With `python.debug` the Python session is there before the program runs."""
    graph = pair.graph
    seq = graph.begin(**PROGRAM, python={"debug": True})
    graph.client.request("configurationDone")
    python = pair.child((SAMPLE, line("graph = traced()")), (SAMPLE, line("return x.clamp")))
    graph.client.wait_response(seq, 60)
    python.stopped("breakpoint", line("graph = traced()"))
    graph.break_on("clip")
    python.go("continue")
    graph.stopped("function breakpoint", "clip")
    before = graph.value("id(gate)")
    graph.go("next")
    python.stopped("breakpoint", line("return x.clamp"))
    assert python.locals()["low"] == "-0.75"
    python.go("next")
    graph.stopped("step", "add")
    assert graph.value("id(gate)") == before
    graph.break_on()
    for child in pair.children:
        child.leave()
    graph.go("continue")
    graph.ended(0)


def test_both_sides_see_the_same_objects(pair: Pair) -> None:
    graph = pair.graph
    graph.launch("gate", **PROGRAM)
    graph.stopped("function breakpoint", "gate")
    seen = graph.value("id(scale)"), graph.value("id(module.gate)")
    python = into(pair)
    python.stopped("step", line("opening = "))
    assert (python.value("id(x)"), python.value("id(self)")) == seen
    python.value("x.zero_()")
    python.go("stepOut")
    graph.stopped("step", "clip")
    assert graph.value("gate.tolist()") == "[0.0, 0.0, 0.0]"
    graph.go("continue")
    graph.stopped("function breakpoint", "gate")
    graph.go("continue")
    graph.ended(0)
