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
