"""Activation checkpoints: the body is stepped in the forward, and again in the backward."""

from typing import Any

import pytest
import torch

from sample_models import checkpoint
from tests.engine.driver import Driver, assert_same
from tests.graphs.stepped_bodies import run


@pytest.fixture(scope="module")
def program() -> Any:
    torch._dynamo.reset()
    graph, inputs = checkpoint.captured()
    return graph, tuple(inputs)


BODY = ["l_x_", "l_self_parameters_weight_", "matmul", "hidden", "sin", "dropout", "output"]


def test_the_body_is_stepped_twice_and_gives_the_same_gradients(program):
    graph, inputs = program
    plain = run(graph, inputs)
    kept: list[dict[str, Any]] = []

    def keep(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        if frame.node.name == "dropout" and driver.places[-1].startswith("%wrap_body_0"):
            names = ("matmul", "hidden", "sin")
            kept.append({n: frame.value(frame.program.by_name[n]).detach() for n in names})

    for _ in range(2):
        with Driver(at_stop=keep) as driver:
            driver.break_on("op:call_function")
            driver.break_on("op:call_method")
            assert_same(run(graph, inputs), plain)
    places = [place.removeprefix("%wrap_body_0/") for place in driver.places]
    body = BODY[2:-1]
    assert places[1:5] == body
    assert places[-4:] == body
    assert driver.stops[1].stack[-1].endswith("%tag_activation_checkpoint")
    assert driver.stops[-1].stack == ("GraphModule%dropout",)
    assert_same(kept[0], kept[1])


def test_what_ends_the_second_run_early_is_not_taken_for_an_error(program):
    with Driver() as driver:
        run(*program)
    assert driver.stops == []


def test_a_step_off_the_end_of_the_forward_lands_in_the_second_run(program):
    with Driver("over over go") as driver:
        driver.break_on("sum_1")
        run(*program)
    assert driver.places == ["%sum_1", "%output", "%wrap_body_0/l_x_"]
    assert driver.reasons[1:] == ["step", "step"]
