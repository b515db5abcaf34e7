"""cond, while_loop, scan and map: their bodies are stepped, stopped in, and compute the same."""

from typing import Any

import pytest
import torch
from torch import fx

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.locations import ListingLocation
from fxdap.view.listing import build_listing
from fxdap.view.listing_text import names_by_line
from fxdap.view.nested import nested_graphs
from sample_models import control_flow
from tests.engine.driver import Driver
from tests.graphs.stepped_bodies import compare_with_torch, run

SAMPLES = ("branch", "loop", "running_sum", "each_row")
Graph = tuple[fx.GraphModule, tuple[Any, ...]]


def exported(name: str) -> Graph:
    module, inputs = getattr(control_flow, name)()
    return torch.export.export(module, inputs).module(), inputs


def captured(name: str) -> Graph:
    """The graph that torch.compile makes, for an input that wants a gradient."""
    torch._dynamo.reset()
    module, (x,) = getattr(control_flow, name)()
    found: list[Any] = []

    def take(graph: fx.GraphModule, inputs: list[Any]) -> Any:
        found.extend((graph, tuple(inputs)))
        return graph.forward

    torch.compile(module, backend=take, fullgraph=True)(x.requires_grad_())
    graph, inputs = found
    return graph, inputs


@pytest.fixture(scope="module")
def graphs() -> dict[str, Graph]:
    made = {name: exported(name) for name in SAMPLES}
    return made | {f"{name} with gradients": captured(name) for name in SAMPLES}


BODIES = {
    "branch": [("true_graph_0", 1)],
    "loop": [
        *(
            call
            for i in (1, 2, 3)
            for call in (("while_loop_cond_graph_0", i), ("while_loop_body_graph_0", i))
        ),
        ("while_loop_cond_graph_0", 4),
    ],
    "running_sum": [("scan_combine_graph_0", i) for i in (1, 2, 3, 4)],
    "each_row": [("body_graph_0", i) for i in (1, 2, 3, 4)],
    "branch with gradients": [
        ("cond_true_0", 1),
        ("GraphModule", 1),
        ("GraphModule.cond_true_0.backward", 1),
    ],
    "running_sum with gradients": [
        *(("GraphModule.scan_combine_fn_0.forward", i) for i in (1, 2, 3, 4)),
        ("GraphModule", 1),
        *(("GraphModule.scan_combine_fn_0.backward", i) for i in (1, 2, 3, 4)),
    ],
}


@pytest.mark.parametrize("name", [*SAMPLES, *(f"{name} with gradients" for name in SAMPLES)])
def test_every_value_in_every_body_is_what_torch_computes(graphs, name):
    bodies = compare_with_torch(*graphs[name])
    calls = [call for call in bodies.calls if call[0] != "GraphModule" or "grad" in name]
    expected = BODIES.get(name)
    if expected is not None:
        assert calls[: len(expected)] == expected
    elif name == "each_row with gradients":
        assert [c for c in calls[:9] if "map_body" in c[0]] == [
            *(("map_body_0", i) for i in (1, 2, 3, 4)),
            *(("GraphModule.map_body_0.backward", i) for i in (1, 2, 3, 4)),
        ]
    else:
        assert ("body_fn_0", 3) in calls
        assert any("backward" in where for where, _ in calls)


@pytest.mark.parametrize("name", [*SAMPLES, *(f"{name} with gradients" for name in SAMPLES)])
def test_every_node_of_every_body_stands_on_one_line_of_one_listing(graphs, name):
    module, _ = graphs[name]
    listing = build_listing(module)
    nodes = [node.name for node in module.graph.nodes]
    for inner in nested_graphs(module, module.graph):
        nodes += [f"{inner.path}/{node.name}" for node in inner.graph.nodes]
    found = names_by_line(listing.text)
    assert list(found.values()) == nodes
    assert {name: line for line, name in found.items()} == listing.lines
    assert build_listing(module).text == listing.text


def test_a_step_into_a_branch_and_out_of_it(graphs):
    graph, inputs = graphs["branch"]
    with Driver("in over out over go") as driver:
        driver.break_on("cond")
        graph(*inputs)
    assert driver.places == [
        "%cond",
        "%true_graph_0/x",
        "%true_graph_0/sin",
        "%getitem",
        "%mul",
    ]
    assert driver.stops[2].stack == ("GraphModule%sin", "GraphModule%cond")


def test_the_other_branch_is_entered_when_it_is_taken(graphs):
    graph, (x,) = graphs["branch"]
    with Driver("in go") as driver:
        driver.break_on("cond")
        graph(-x)
    assert driver.places == ["%cond", "%false_graph_0/x"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_step_over_runs_the_bodies_without_a_stop(graphs, name):
    graph, inputs = graphs[name]
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        graph(*inputs)
    assert driver.places == [f"%{node.name}" for node in graph.graph.nodes]


def test_a_step_over_the_end_of_a_loops_body_lands_in_its_next_iteration(graphs):
    graph, inputs = graphs["running_sum"]
    with Driver("over over out go") as driver:
        driver.break_on("mul", hit="1")
        graph(*inputs)
    body = "%scan_combine_graph_0"
    assert driver.places == [f"{body}/mul", f"{body}/output", f"{body}/arg0_1", "%getitem"]


@pytest.mark.parametrize("runs_before", [0, 2])
def test_a_breakpoint_set_between_iterations_acts_in_the_next_one(graphs, runs_before):
    graph, inputs = graphs["loop"]

    def aim(driver: Driver, thread: Any, stop: Any) -> None:
        if driver.places[-1] == "%while_loop_cond_graph_0/lt" and thread.frames[-1].call == 2:
            driver.clear()
            driver.break_on("mul")

    with Driver(at_stop=aim) as driver:
        for _ in range(runs_before):
            graph(*inputs)
        driver.break_on("lt")
        graph(*inputs)
    body = "%while_loop_body_graph_0/mul"
    assert driver.places == ["%while_loop_cond_graph_0/lt"] * 2 + [body] * 2


def test_conditions_in_a_body_see_its_values_and_those_of_the_graph_around_it(graphs):
    graph, inputs = graphs["loop"]
    with Driver() as driver:
        driver.break_on("mul", condition="arg0_1 == 1 and x.sum() == 3")
        graph(*inputs)
    assert driver.places == ["%while_loop_body_graph_0/mul"]


def _break_on_line(driver: Driver, graph: fx.GraphModule, name: str) -> None:
    """As an editor does it: on the line of the outermost listing that names the node."""
    program = next(p for p in driver.debugger.programs() if p.module is graph)
    lines = names_by_line(program.listing.text)
    assert name in lines.values()
    location = ListingLocation(program.file, name)
    assert location.line(driver.debugger.programs()) in lines
    driver.debugger.breakpoints.replace("listing", [Breakpoint(id=1, location=location)])


@pytest.mark.parametrize(
    ("sample", "name", "stops"),
    [
        ("branch", "true_graph_0/add", ["%true_graph_0/add"]),
        ("branch with gradients", "cond_true_0/sin", ["%cond_true_0/sin"]),
        ("running_sum", "scan_combine_graph_0/mul", ["%scan_combine_graph_0/mul"] * 4),
        ("running_sum with gradients", "scan_combine_fn_0/child_3", ["%mul"] * 4),
        ("each_row", "body_graph_0/tanh", ["%body_graph_0/tanh"] * 4),
    ],
)
def test_a_breakpoint_on_a_line_of_a_body_is_hit(graphs, sample, name, stops):
    graph, inputs = graphs[sample]
    with Driver() as driver:
        run(graph, inputs)
        _break_on_line(driver, graph, name)
        run(graph, inputs)
    assert driver.places == stops


def test_graphs_derived_for_the_gradient_of_each_step_share_a_name(graphs):
    graph, inputs = graphs["running_sum with gradients"]
    with Driver() as driver:
        for _ in range(4):
            run(graph, inputs)
        names = [p.name for p in driver.debugger.programs() if p.name.startswith("GraphModule")]
    names = list(dict.fromkeys(names))
    body = "GraphModule.scan_combine_fn_0"
    assert names == ["GraphModule", f"{body}.forward", f"{body}.backward"]
    forward = next(p for p in driver.added if p.name == f"{body}.forward")
    assert "control_flow.py" in forward.listing.text


def test_bodies_run_on_after_the_session_has_ended(graphs):
    graph, (x,) = graphs["branch with gradients"]
    plain = run(graph, (x,))
    x.grad = None
    with Driver() as driver:
        driver.break_on("sin")
        (result,) = graph(x)
    result.sum().backward()
    assert driver.places == ["%cond_true_0/sin"]
    assert torch.equal(x.grad, plain[1][0])
