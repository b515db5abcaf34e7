"""autograd.Function in a graph: forward and backward are stepped, and compute the same."""

from typing import Any

import pytest
import torch

from sample_models import autograd_function
from tests.engine.driver import Driver
from tests.graphs.stepped_bodies import compare_with_torch, run

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*should not be instantiated:DeprecationWarning",
)


@pytest.fixture(scope="module")
def program() -> Any:
    torch._dynamo.reset()
    graph, inputs = autograd_function.captured()
    return graph, tuple(inputs)


def test_every_value_of_the_forward_and_the_backward_is_what_torch_computes(program):
    bodies = compare_with_torch(*program)
    assert [where for where, _ in bodies.calls[:3]] == ["fwd_body_0", "GraphModule", "bwd_body_0"]


def test_a_breakpoint_in_the_backward_stops_there(program):
    with Driver("over go") as driver:
        driver.break_on("target:torch.clamp")
        run(*program)
    assert [place.partition("/")[0] for place in driver.places] == ["%bwd_body_0"] * 2
    assert driver.reasons == ["function breakpoint", "step"]
