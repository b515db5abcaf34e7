"""Steps by lines of the user's source, out of modules and into and out of nested graphs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import fx, nn

from fxdap.engine.frame import Frame
from fxdap.engine.plan import Plan, next_line, step_line, step_out, step_out_line
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.view.source import remember
from tests.engine.driver import Driver

Step = Callable[[Frame], Plan]


def on_lines(graph: fx.Graph, **lines: tuple[int, ...]) -> None:
    """Give nodes the lines that they come from, of the outermost call first."""
    for node in graph.nodes:
        if node.name in lines:
            remember(node, [("model.py", line, "forward") for line in lines[node.name]])


def flat() -> fx.GraphModule:
    """Line 10 calls a module whose lines are 2 and 3, and doubles what it gives; line 11 adds."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    neg = graph.call_function(torch.neg, (relu,))
    mul = graph.call_function(torch.mul, (neg, 2))
    graph.output(graph.call_function(torch.add, (mul, 1)))
    on_lines(graph, relu=(10, 2), neg=(10, 3), mul=(10,), add=(11,))
    for node in (relu, neg):
        node.meta["nn_module_stack"] = {"inner": ("inner", nn.Identity)}
    return fx.GraphModule(nn.Module(), graph, "Flat")


def nested() -> fx.GraphModule:
    """Line 10 is `body(cos(x)) * 2`; the body's lines are 2 and 3."""
    inner = fx.Graph()
    relu = inner.call_function(torch.relu, (inner.placeholder("y"),))
    inner.output(inner.call_function(torch.neg, (relu,)))
    on_lines(inner, relu=(2,), neg=(3,))
    root = nn.Module()
    root.body = fx.GraphModule(nn.Module(), inner)
    graph = fx.Graph()
    cos = graph.call_function(torch.cos, (graph.placeholder("x"),))
    mul = graph.call_function(torch.mul, (graph.call_module("body", (cos,)), 2))
    graph.output(graph.call_function(torch.add, (mul, 1)))
    on_lines(graph, cos=(10,), body=(10,), mul=(10,), add=(11,))
    return fx.GraphModule(root, graph, "Nested")


def step_in_line(frame: Frame) -> Plan:
    return Plan(frame, next_line(frame), into=True, by_line=True)


def lands(module: fx.GraphModule, start: str, *steps: Step) -> list[str]:
    left = list(steps)

    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Plan | None:
        return left.pop(0)(thread.frames[-1]) if left else None

    with Driver(at_stop=at_stop) as driver:
        driver.break_on(start)
        module(torch.ones(2))
    return driver.places[1:]


@pytest.mark.parametrize(
    ("start", "step", "place"),
    [
        ("relu", step_out, "%mul"),
        ("relu", step_out_line, "%add"),
        ("neg", step_line, "%mul"),
        ("mul", step_line, "%add"),
        ("add", step_out_line, None),
    ],
)
def test_steps_in_a_flat_graph(start: str, step: Step, place: str | None) -> None:
    assert lands(flat(), start, step) == ([place] if place else [])


@pytest.mark.parametrize(
    ("start", "steps", "places"),
    [
        ("cos", [step_in_line], ["%body/y"]),
        ("mul", [step_in_line], ["%add"]),
        ("body/relu", [step_out], ["%mul"]),
        ("body/relu", [step_out_line], ["%add"]),
        ("body/relu", [step_line, step_line], ["%body/neg", "%add"]),
    ],
)
def test_steps_into_and_out_of_a_nested_graph(
    start: str, steps: list[Step], places: list[str]
) -> None:
    assert lands(nested(), start.rpartition("/")[2], *steps) == places
