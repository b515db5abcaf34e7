"""no_grad and autocast regions are graphs that can be entered; they and vmap give the same."""

from typing import Any

import pytest
import torch

from sample_models import regions
from tests.engine.driver import Driver, assert_same
from tests.graphs.stepped_bodies import run


@pytest.fixture(scope="module")
def module() -> Any:
    return torch.export.export(regions.model(), regions.example_inputs()).module()


def test_values_and_gradients_are_those_of_the_graph_alone(module):
    parameters = tuple(module.parameters())
    (x,) = regions.example_inputs()

    def graph(*_: Any) -> Any:
        return module(x)

    plain = run(graph, parameters)
    driver = Driver(entry=True)
    driver.forever = "in"
    with driver:
        assert_same(run(graph, parameters), plain)
    entered = {place.partition("/")[0] for place in driver.places if "/" in place}
    assert entered == {"%submod_1", "%submod_3"}


def test_the_modes_of_a_region_hold_in_it(module):
    modes: dict[str, tuple[bool, bool]] = {}

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        modes[driver.places[-1]] = (torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"))

    driver = Driver(entry=True, at_stop=look)
    driver.forever = "in"
    with driver:
        module(*regions.example_inputs())
    assert modes["%submod_3/mean"] == (False, False)
    assert modes["%submod_1/linear"] == (True, True)
    assert modes["%mul_1"] == (True, False)


def test_a_region_of_a_flat_graph_is_named_in_the_listing_and_left_by_a_step_out(module):
    with Driver("out go") as driver:
        driver.break_on("sum_1")
        module(*regions.example_inputs())
        program = driver.runs.program(module)
    assert driver.places == ["%sum_1", "%exp"]
    around = [r.label for r in program.regions_around(program.by_name["sum_1"])]
    assert around == ["vmap over 4"]
    lines = [line.strip() for line in program.listing.text.splitlines()]
    begin, end = lines.index("# begin vmap over 4"), lines.index("# end vmap over 4")
    assert lines[begin + 1].startswith("%_vmap_increment_nesting")
    assert lines[end - 1].startswith("%_vmap_decrement_nesting")
