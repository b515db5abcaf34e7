"""flex_attention's score_mod and mask_mod are stepped under its vmap, and give the same."""

from typing import Any

import pytest
import torch

from sample_models import flex
from tests.engine.driver import Driver, assert_same

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without")


@pytest.fixture(scope="module")
def module() -> Any:
    return torch.export.export(flex.model(), flex.example_inputs()).module()


def test_both_functions_are_stepped_into_and_the_result_is_the_same(module):
    inputs = flex.example_inputs()
    plain = module(*inputs)
    driver = Driver(entry=True)
    driver.forever = "in"
    with driver:
        assert_same(module(*inputs), plain)
    inside = [place for place in driver.places if "/" in place]
    mask = ["arg0_1", "arg1_1", "arg2_1", "arg3_1", "ge", "output"]
    score = [*mask[:4], "arg4_1", "sub", "mul", "sub_1", "output"]
    assert inside == [f"%sdpa_mask0/{n}" for n in mask] + [f"%sdpa_score0/{n}" for n in score]


def test_values_under_the_vmap_can_be_looked_at_and_used_in_conditions(module):
    shapes: list[torch.Size] = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        shapes.append(thread.frames[-1].value(0).shape)

    with Driver(at_stop=look) as driver:
        driver.break_on("sub_1", condition="arg0_1.dim() == 0")
        for _ in range(3):
            module(*flex.example_inputs())
    assert driver.places == ["%sdpa_score0/sub_1"] * 3
    assert shapes == [torch.Size([])] * 3
