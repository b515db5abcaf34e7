"""Breakpoints on lines of the user's model: once each time the line runs."""

import pytest
import torch
from torch import fx

from fxdap.engine.locations import SourceLocation
from fxdap.graphs.tracer import trace_with_sources
from tests.engine import models
from tests.engine.driver import Driver, names
from tests.engine.models import FILE, line_of

X = torch.ones(2, 4)


def _traced() -> fx.GraphModule:
    return trace_with_sources(models.Looped())


def _exported() -> fx.GraphModule:
    return torch.export.export(models.Looped(), (X,)).module()


@pytest.fixture(scope="module", params=[_traced, _exported], ids=["traced", "exported"])
def looped(request) -> fx.GraphModule:
    made: fx.GraphModule = request.param()
    return made


@pytest.fixture(scope="module")
def helped() -> fx.GraphModule:
    """torch.export records the lines of forward methods only, so this is traced."""
    return _traced()


def stops_at(module: fx.GraphModule, mark: str, *, after: bool = False) -> Driver:
    driver = Driver()
    driver.break_at(FILE, line_of(mark), after=after)
    with driver:
        module(X)
    return driver


def test_a_line_of_a_loop_stops_once_per_iteration(looped):
    driver = stops_at(looped, "loop")
    assert len(driver.stops) == 3
    assert driver.reasons == ["breakpoint"] * 3


def test_a_line_of_many_nodes_stops_once_each_time_it_runs_at_its_first_node(looped):
    driver = stops_at(looped, "many")
    assert len(driver.stops) == 3
    assert names(driver.stops)[0] in ("blocks_0_fc", "linear")


def test_a_line_that_calls_a_function_stops_before_what_it_calls(looped):
    assert names(stops_at(looped, "calls helper").stops) == ["relu", "relu_1", "relu_2"]


def test_lines_of_a_called_function_stop_too(helped):
    assert names(stops_at(helped, "helper first").stops) == ["relu", "relu_1", "relu_2"]
    assert names(stops_at(helped, "helper second").stops) == ["add", "add_1", "add_2"]


def test_an_after_breakpoint_on_a_line_stops_when_its_first_node_ran(helped):
    driver = stops_at(helped, "helper second", after=True)
    assert driver.places == ["after %add", "after %add_1", "after %add_2"]


def test_a_line_without_nodes_slides_to_the_next_one_that_has_some(looped):
    driver = Driver()
    breakpoint_ = driver.break_at(FILE, line_of("plain"))
    with driver:
        looped(X)
        programs = driver.debugger.programs()
        location = breakpoint_.location
        assert isinstance(location, SourceLocation)
        assert location.bound_line(programs) == line_of("many")
        assert location.describe(programs) == (True, "binds to 3 places in the graph")
    assert len(driver.stops) == 3


def test_the_def_line_slides_into_the_function(looped):
    assert len(stops_at(looped, "def").stops) == 3


def test_a_breakpoint_never_slides_into_another_function(looped):
    driver = Driver()
    added = driver.break_at(FILE, line_of("unrelated"))
    repeats = trace_with_sources(models.Repeats())
    with driver:
        looped(X)
        repeats(X)
        verified, message = added.location.describe(driver.debugger.programs())
    assert driver.places == []
    assert (verified, message) == (False, "no node of the graph comes from this line")


def test_a_line_of_one_model_does_not_slide_in_another_models_graph(looped):
    driver = Driver()
    driver.break_at(FILE, line_of("after loop"))
    repeats = trace_with_sources(models.Repeats())
    with driver:
        repeats(X)
        looped(X)
    assert names(driver.stops) == ["sum_1"]


def test_a_statement_over_several_lines_stops_where_its_nodes_come_from():
    repeats = trace_with_sources(models.Repeats())
    assert names(stops_at(repeats, "inner line").stops) == ["tanh"]
    assert names(stops_at(repeats, "last of repeats").stops) == ["mul"]


def test_a_missing_line_and_a_graph_without_lines_are_told_apart(looped):
    far = SourceLocation(FILE, 5000)
    unknown = fx.symbolic_trace(models.Repeats())
    with Driver() as driver:
        assert far.describe(driver.debugger.programs()) == (False, "waiting for a graph to run")
        unknown(X)
        assert "records no source lines" in far.describe(driver.debugger.programs())[1]
        looped(X)
        assert far.describe(driver.debugger.programs()) == (
            False,
            "no node of the graph comes from this line",
        )


def test_the_file_may_be_named_through_a_link(helped, tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(FILE)
    driver = Driver()
    driver.break_at(str(link), line_of("helper first"))
    with driver:
        helped(X)
    assert len(driver.stops) == 3
