"""What nodes write in place, and which values show it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from fxdap.engine.frame import Frame
from fxdap.engine.plan import Plan
from fxdap.engine.stops import Stop
from fxdap.engine.storage import overlap
from fxdap.engine.thread import DebugThread
from fxdap.engine.writes import changed_by, find_writes, written_state, written_values
from tests.engine.driver import Driver

aten = torch.ops.aten


def graph_of(build: Callable[[fx.Graph, fx.Node], fx.Node], root: Any = None) -> fx.GraphModule:
    graph = fx.Graph()
    graph.output(build(graph, graph.placeholder("x")))
    return fx.GraphModule(root or nn.Module(), graph)


def call(target: Any, *rest: Any, **kwargs: Any) -> fx.GraphModule:
    return graph_of(lambda g, x: g.call_function(target, (x, *rest), kwargs))


def look_at_end(module: fx.GraphModule, look: Callable[[Frame], Any], *inputs: Any) -> Any:
    """What `look` gives before the output node."""
    seen: list[Any] = []

    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Plan | None:
        seen.append(look(thread.frames[-1]))
        return None

    with Driver(at_stop=at_stop) as driver:
        driver.break_on("output")
        module(*inputs)
    return seen[-1]


WRITING = [
    (call(aten.add_.Tensor, 1), ["x"]),
    (call(torch.relu_), ["x"]),
    (call(F.relu, inplace=True), ["x"]),
    (call(F.relu, True), ["x"]),
    (call(F.dropout, 0.5, True, True), ["x"]),
    (graph_of(lambda g, x: g.call_method("mul_", (x, 2))), ["x"]),
    (graph_of(lambda g, x: g.call_method("__setitem__", (x, 0, 1))), ["x"]),
]


@pytest.mark.parametrize(("module", "names"), WRITING, ids=lambda v: str(getattr(v, "code", "")))
def test_a_node_that_writes_its_input_is_known_before_it_runs(module, names) -> None:
    def look(frame: Frame) -> list[str]:
        written = written_values(frame.program, 1, frame.registers)
        return [
            n.name for n in frame.program.nodes if any(frame.registers[0] is w for w in written)
        ]

    assert list(look_at_end(module, lambda f: find_writes(f.program), torch.ones(3))) == [1]
    assert look_at_end(module, look, torch.ones(3))[:1] == names


@pytest.mark.parametrize(
    "module",
    [
        call(torch.relu),
        call(F.relu),
        call(F.relu, False),
        call(torch.bitwise_and, 1),
        call(aten.add.Tensor, 1),
        graph_of(lambda g, x: g.call_method("__and__", (x, 1))),
        graph_of(lambda g, x: g.call_module("c", (x,)), nn.ModuleDict({"c": nn.Identity()})),
    ],
    ids=lambda module: str(module.code),
)
def test_a_node_that_only_reads_is_none_of_them(module) -> None:
    x = torch.ones(3, dtype=torch.int64)
    assert not look_at_end(module, lambda f: find_writes(f.program), x)


def test_an_out_argument_is_what_is_written() -> None:
    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        buffer = g.call_function(torch.zeros, (3,))
        return g.call_function(torch.add, (x, 1), {"out": buffer})

    def look(frame: Frame) -> bool:
        return written_values(frame.program, 2, frame.registers)[0] is frame.registers[1]

    assert look_at_end(graph_of(build), look, torch.ones(3))


@pytest.mark.parametrize("training", [True, False])
def test_a_batch_norm_writes_its_statistics_in_training_only(training: bool) -> None:
    root = nn.ModuleDict({"bn": nn.BatchNorm1d(2)}).train(training)
    module = graph_of(lambda g, x: g.call_module("bn", (x,)), root)
    module.train(training)
    written = look_at_end(module, lambda f: written_state(f.program, 1), torch.ones(4, 2))
    assert [id(b) for b in written] == ([id(b) for b in module.buffers()] if training else [])


@pytest.mark.parametrize("target", [F.batch_norm, torch.batch_norm, aten.batch_norm.default])
@pytest.mark.parametrize("training", [True, False])
def test_a_functional_batch_norm_too(target: Any, training: bool) -> None:
    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        mean, var = g.get_attr("mean"), g.get_attr("var")
        if target is F.batch_norm:
            return g.call_function(target, (x, mean, var, None, None, training))
        tail = (None, None, mean, var, training, 0.1, 1e-5, False)
        return g.call_function(target, (x, *tail))

    root = nn.Module()
    root.register_buffer("mean", torch.zeros(2))
    root.register_buffer("var", torch.ones(2))
    module = graph_of(build, root)
    written = look_at_end(
        module, lambda f: written_values(f.program, 3, f.registers), torch.ones(4, 2)
    )
    assert [id(w) for w in written] == ([id(module.mean), id(module.var)] if training else [])


def helper(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def test_code_of_the_users_may_write_anything_it_is_given() -> None:
    module = call(helper)
    assert look_at_end(module, lambda f: find_writes(f.program)[1].unknown, torch.ones(3))


def test_a_nested_graph_that_writes_nothing_is_none_of_them_and_one_that_does_is() -> None:
    pure, impure = call(torch.relu), call(torch.relu_)
    root = nn.ModuleDict({"pure": pure, "impure": impure})

    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        return g.call_module("impure", (g.call_module("pure", (x,)),))

    assert list(
        look_at_end(graph_of(build, root), lambda f: find_writes(f.program), torch.ones(3))
    ) == [2]


def test_a_value_changed_through_a_view_names_the_node_that_did_it() -> None:
    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        base = g.call_function(torch.mul, (x, 2))
        left = g.call_method("narrow", (base, 1, 0, 2))
        right = g.call_method("narrow", (base, 1, 2, 2))
        g.call_method("add_", (left, 1))
        return g.call_function(torch.add, (base, g.call_function(torch.sum, (right,))))

    def look(frame: Frame) -> dict[str, str]:
        nodes = frame.program.nodes
        return {nodes[i].name: nodes[by].name for i, by in changed_by(frame).items()}

    assert look_at_end(graph_of(build), look, torch.ones(3, 4)) == {"mul": "add_", "narrow": "add_"}


def test_interleaved_columns_do_not_overlap_and_shifted_windows_do() -> None:
    base = torch.zeros(4, 6)
    assert not overlap(base[:, :3], base[:, 3:])
    assert not overlap(base[:, ::2], base[:, 1::2])
    assert overlap(base[:, :4], base[:, 3:])
    assert overlap(base, base[2])
    assert not overlap(base[0], torch.zeros(6))
