"""Data breakpoints: before a value is read, after it was written to under any name."""

from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.conditions import HitCondition
from fxdap.engine.watches.data import Access, DataLocation
from sample_models import inplace as sample
from tests.engine.driver import Driver


def stops(
    module: Any, *inputs: Any, name: str, access: Access = "write", runs: int = 1, **given: Any
) -> Driver:
    with Driver() as driver:
        location = DataLocation(graph_name(module), name, access)
        driver.debugger.breakpoints.replace("data", [Breakpoint(id=7, location=location, **given)])
        for _ in range(runs):
            module(*inputs)
    return driver


def graph_name(module: fx.GraphModule) -> str:
    with Driver() as driver:
        return driver.runs.program(module).name


@pytest.fixture(scope="module")
def block() -> fx.GraphModule:
    return fx.symbolic_trace(sample.model())


def test_a_write_is_noticed_through_every_alias(block):
    for name in ("fc", "view"):
        driver = stops(block, *sample.example_inputs(), name=name, runs=4)
        assert driver.places == ["after %relu_"] * 4
        assert driver.reasons == ["data breakpoint"] * 4
        assert driver.stops[0].ids == (7,)
        assert driver.stops[0].text == "%relu_ wrote into the value"


def test_what_is_not_written_does_not_stop(block):
    assert stops(block, *sample.example_inputs(), name="x").stops == []
    assert stops(block, *sample.example_inputs(), name="relu_", runs=3).stops == []


def test_a_read_stops_before_each_node_that_consumes_the_value(block):
    driver = stops(block, *sample.example_inputs(), name="fc", access="read")
    assert driver.places == ["%view", "%relu_"]
    both = stops(block, *sample.example_inputs(), name="fc", access="readWrite")
    assert both.places == ["%view", "%relu_", "after %relu_"]


def test_conditions_are_evaluated_after_the_write(block):
    inputs = sample.example_inputs()
    assert stops(block, *inputs, name="fc", condition="fc.min() >= 0").places == ["after %relu_"]
    assert stops(block, *inputs, name="fc", condition="fc.min() < 0").stops == []
    third = stops(block, *inputs, name="fc", hit_condition=HitCondition.parse("3"), runs=4)
    assert len(third.stops) == 1


def test_writes_that_are_tiny_and_many_still_stop_at_the_first():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.create_node("call_function", torch.neg, (x,), name="y")
    value = y
    for i in range(140):
        value = graph.create_node("call_function", torch.mul, (value, 1), name=f"n{i}")
        if i in (50, 90):
            graph.create_node("call_method", "zero_", (y,), name=f"write{i}")
    graph.output(value)
    module = fx.GraphModule(nn.Module(), graph, "Many")
    driver = stops(module, torch.ones(2), name="y", runs=4)
    assert driver.places == ["after %write50", "after %write90"] * 4


def test_a_graph_or_a_node_that_is_not_there_is_said(block):
    with Driver() as driver:
        program = driver.runs.program(block)
        assert DataLocation("other", "x", "write").describe([program]) == (
            False,
            "waiting for graph other to run",
        )
        assert DataLocation(program.name, "gone", "write").describe([program]) == (
            False,
            "the graph has no node %gone any more",
        )
        assert DataLocation(program.name, "fc", "readWrite").describe([program]) == (
            True,
            "2 nodes read it; whatever writes into %fc, under any name",
        )
