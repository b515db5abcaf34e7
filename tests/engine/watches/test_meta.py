"""The filter `meta`: values that are not what the graph recorded."""

from typing import Any

import pytest
import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from tests.engine.driver import Driver
from tests.engine.watches.test_finite import watch


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.reshape(x.shape[0] * 2, 2)
        return torch.cat([y, y]).relu() + 1


def exported(*, dynamic: bool = False) -> Any:
    x = torch.zeros(4, 4)
    shapes = {"x": {0: torch.export.Dim("rows", min=2, max=64)}} if dynamic else None
    return torch.export.export(Model(), (x,), dynamic_shapes=shapes).graph_module


def run(module: Any, *inputs: Any, runs: int = 3, **conditions: str) -> Driver:
    with Driver() as driver:
        watch(driver, **conditions) if conditions else watch(driver, "meta")
        for _ in range(runs):
            module(*inputs)
    return driver


def test_values_as_recorded_do_not_stop():
    assert run(exported(), torch.ones(4, 4)).stops == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (torch.zeros(2, 4), "shape [2, 4], size 0 is 2 instead of 4"),
        (torch.zeros(4, 4, 1), "shape [4, 4, 1], 3 dimensions instead of 2"),
        (torch.zeros(4, 4).double(), "dtype torch.float64 instead of torch.float32"),
        (torch.zeros(4, 4).t(), "stride (1, 4) instead of (4, 1)"),
        (torch.zeros(4, 4, device="meta"), "on meta instead of cpu"),
        (3, "it is int"),
    ],
    ids=lambda value: str(getattr(value, "shape", value))[:20],
)
def test_the_first_node_that_disagrees_is_reported_and_its_users_are_not(value, problem):
    graph = fx.Graph()
    x = graph.placeholder("x")
    made = graph.create_node("call_function", lambda x: value, (x,), name="made")
    after = graph.create_node("call_function", lambda x: x, (made,), name="after")
    graph.output(after)
    for node in (x, made, after):
        node.meta["val"] = torch.zeros(4, 4)
    driver = run(fx.GraphModule(nn.Module(), graph), torch.zeros(4, 4))
    assert driver.places == ["after %made"] * 3
    assert driver.stops[0].text == f"%made was recorded as f32[4, 4]: {problem}"
    assert type(driver.stops[0].error).__name__ == "MetaMismatch"


def test_symbols_stand_for_one_size_in_a_run():
    module = exported(dynamic=True)
    assert run(module, torch.ones(6, 4)).stops == []
    add = next(n for n in module.graph.nodes if n.op == "call_function" and "add" in n.name)
    add.args = (add.args[0], torch.ones(1))
    module.recompile()
    cat = next(n for n in module.graph.nodes if "cat" in n.name)
    cat.args = ([cat.args[0][0]],)
    module.recompile()
    driver = run(module, torch.ones(6, 4), runs=1)
    assert driver.places == ["after %cat"]
    assert "size 0 is 12 instead of 4*" in driver.stops[0].text
    assert " is 6 in %x)" in driver.stops[0].text


def test_shape_propagation_and_tuples_are_read_too():
    class Split(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            left, right = x.chunk(2)
            return left + right

    module = fx.symbolic_trace(Split())
    ShapeProp(module).propagate(torch.zeros(4))
    assert run(module, torch.ones(4)).stops == []
    driver = run(module, torch.ones(6), meta="chunk")
    assert driver.places == ["after %chunk"] * 3
    assert driver.stops[0].text == (
        "%chunk was recorded as (f32[2], f32[2]): [0]: shape [3], size 0 is 3 instead of 2"
    )


def test_strides_count_only_where_something_is_stepped_over():
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.zeros(1, 4)
    graph.output(x)
    assert run(fx.GraphModule(nn.Module(), graph), torch.zeros(4, 1).t()).stops == []
