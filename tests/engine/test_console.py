"""What is typed at a stop: what it writes in the run is one event, and going back undoes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.console import recorded
from fxdap.engine.edits import assign
from fxdap.engine.frame import Frame
from fxdap.engine.moves import step_back
from fxdap.engine.names import execute_statements
from fxdap.engine.plan import Plan, step_in, step_over
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from tests.engine.driver import Driver


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Buffer(torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        doubled = x * self.scale
        parts = doubled.split(1)
        return torch.neg(parts[0]) + doubled.sum()


Look = Callable[[Frame], Any]


def typed(text: str, look: Look, *, x: torch.Tensor | None = None) -> tuple[Any, Any, Any, Any]:
    """What `look` sees before `text` is typed, after it, and after a step back; and the result."""
    seen: list[Any] = []
    texts: list[str] = []

    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Travel | Plan | None:
        frame = thread.frames[-1]
        seen.append(look(frame))
        texts.append(stop.text)
        if len(seen) > 1:
            return None
        recorded(frame, text, lambda: execute_statements(text, frame, {}))
        seen.append(look(frame))
        return step_back(thread)

    module = fx.symbolic_trace(Model())
    with Driver(at_stop=at_stop) as driver:
        driver.break_on("neg")
        result = module(torch.ones(3) if x is None else x)
    assert texts[1] == f"undid {text}"
    return *seen, result


@pytest.mark.parametrize(
    "text",
    [
        "mul.add_(1)",
        "mul[0] = 7",
        "split[1].zero_()",
        "torch.add(mul, 1, out=mul)",
        "mul.data.fill_(3)",
        "for _ in range(9): mul.mul_(2); mul += 1",
        "module.scale.zero_(); x.zero_()",
        "torch._foreach_add_([mul, x], 1)",
        "split = mul; mul.sin_(); split = 4",
    ],
)
def test_what_a_statement_writes_is_undone_at_once(text: str) -> None:
    def look(frame: Frame) -> Any:
        names = {n.name: i for i, n in enumerate(frame.program.nodes)}
        split = frame.registers[names["split"]]
        tensors = [frame.registers[names[n]] for n in ("x", "scale", "mul")]
        values = [t.tolist() for t in tensors]
        return values, [t._version for t in tensors], type(split)

    before, after, undone, result = typed(text, look)
    assert after[0] != before[0]
    assert undone == before
    assert result.tolist() == [4.0]


def test_a_list_that_a_statement_changes_has_its_items_again() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    pair = graph.call_function(list, ((x, x),))
    graph.output(graph.call_function(torch.stack, (pair,)))
    module = fx.GraphModule(nn.Module(), graph)

    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Travel | None:
        frame = thread.frames[-1]
        if stop.reason == "step":
            return None
        text = "list_1.append(x + 1)"
        recorded(frame, text, lambda: execute_statements(text, frame, {}))
        return step_back(thread)

    with Driver(at_stop=at_stop) as driver:
        driver.break_on("stack")
        assert module(torch.zeros(())).shape == (2,)
    assert driver.reasons == ["function breakpoint", "step"]


def test_what_only_looks_leaves_nothing_to_step_back_over() -> None:
    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Travel | None:
        frame, text = thread.frames[-1], "torch.zeros(3).add_(mul).sum()"
        if len(driver.stops) > 1:
            return None
        recorded(frame, text, lambda: execute_statements(text, frame, {}))
        return step_back(thread)

    with Driver(at_stop=at_stop) as driver:
        driver.break_on("split")
        fx.symbolic_trace(Model())(torch.ones(3))
    assert driver.places[:2] == ["%split", "%mul"]


def test_a_statement_that_fails_half_way_is_undone_too() -> None:
    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Travel | None:
        frame, text = thread.frames[-1], "mul.add_(1); nothing"
        if stop.reason == "step":
            return None
        with pytest.raises(NameError):
            recorded(frame, text, lambda: execute_statements(text, frame, {}))
        return step_back(thread)

    with Driver(at_stop=at_stop) as driver:
        driver.break_on("neg")
        result = fx.symbolic_trace(Model())(torch.ones(3))
    assert driver.places == ["%neg", "%neg"]
    assert result.tolist() == [4.0]


def test_with_gradients_what_was_written_has_its_history_again() -> None:
    x = torch.ones(3, requires_grad=True)

    def look(frame: Frame) -> str:
        return type(frame.registers[frame.program.by_name["mul"]].grad_fn).__name__

    before, after, undone, result = typed("mul.add_(1)", look, x=x)
    assert (before, after) == ("MulBackward0", "AddBackward0")
    assert undone != "AddBackward0"
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 2.0, 2.0]


def test_a_change_in_a_nested_graph_is_undone_with_the_node_that_runs_it() -> None:
    inner = fx.Graph()
    inner.output(inner.call_function(torch.neg, (inner.placeholder("y"),)))
    root = nn.Module()
    root.body = fx.GraphModule(nn.Module(), inner)
    outer = fx.Graph()
    x = outer.placeholder("x")
    called = outer.call_module("body", (x,))
    outer.output(outer.call_function(torch.add, (called, x)))
    module = fx.GraphModule(root, outer)
    seen = []

    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Plan | Travel | None:
        frame = thread.frames[-1]
        seen.append(thread.frames[0].registers[0].tolist())
        if len(seen) == 1:
            return step_in(frame)
        if len(seen) == 3:
            assign(frame, "y[0]", 5, {})
            return Plan(thread.frames[0], 2)
        return step_back(thread) if len(seen) == 4 else step_over(frame)

    with Driver(at_stop=at_stop) as driver:
        driver.break_on("body")
        module(torch.zeros(2))
    assert driver.places[:5] == ["%body", "%body/y", "%body/neg", "%add", "%body"]
    assert seen[:5] == [[0, 0], [0, 0], [0, 0], [5, 0], [0, 0]]
