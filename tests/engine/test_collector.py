"""Values that are kept set off no collection of garbage; the program's own settings hold."""

import gc
from collections.abc import Iterator

import pytest
import torch
from torch import fx

from tests.engine.driver import Driver
from tests.engine.graphs import chain

X = torch.zeros(4)
LENGTH = 1500
FIRST = 700


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(FIRST, 10, 10)
    yield
    gc.set_threshold(*before)


def collections(module: fx.GraphModule, runs: int) -> int:
    began = []

    def called(phase: str, info: dict[str, int]) -> None:
        began.append(phase)

    gc.collect()
    gc.callbacks.append(called)
    try:
        for _ in range(runs):
            module(X)
    finally:
        gc.callbacks.remove(called)
    return began.count("start")


def around(function) -> fx.GraphModule:
    """A graph that calls a function in the middle of many other nodes."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for index in range(LENGTH):
        value = graph.call_function(torch.neg if index != LENGTH // 2 else function, (value,))
    graph.output(value)
    return fx.GraphModule(torch.nn.Module(), graph)


def test_kept_values_set_off_no_collection():
    module = chain(LENGTH)
    with Driver(keep_values=True, time_travel=False):
        collections(module, 3)
        assert collections(module, 4) == 0
    assert gc.get_threshold() == (FIRST, 10, 10)


def test_garbage_is_collected_as_ever():
    def litter(x: torch.Tensor) -> torch.Tensor:
        for _ in range(LENGTH + 2 * FIRST):
            cycle: list[object] = []
            cycle.append(cycle)
        return x

    with Driver(keep_values=True, time_travel=False):
        assert collections(around(litter), 1) >= 1


def test_a_graph_within_a_graph_adds_its_own():
    inner, seen = chain(LENGTH), []

    def nested(x: torch.Tensor) -> torch.Tensor:
        seen.append(gc.get_threshold()[0])
        inner(x)
        return x

    with Driver(keep_values=True):
        around(nested)(X)
    assert seen == [FIRST + LENGTH + 2]
    assert gc.get_threshold()[0] == FIRST


def test_an_error_leaves_the_threshold_as_it_was():
    def fail(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")

    with Driver(keep_values=True), pytest.raises(ValueError, match="no"):
        around(fail)(X)
    assert gc.get_threshold()[0] == FIRST


@pytest.mark.parametrize("wanted", [0, 12_345, 2**31 - 1])
@pytest.mark.parametrize("when", ["before", "within"])
def test_what_the_program_sets_holds(when, wanted):
    def choose(x: torch.Tensor) -> torch.Tensor:
        if when == "within":
            gc.set_threshold(wanted)
        return x

    if when == "before":
        gc.set_threshold(wanted)
    with Driver(keep_values=True):
        around(choose)(X)
        around(torch.neg)(X)
    assert gc.get_threshold()[0] == wanted


def test_a_program_that_puts_its_threshold_back_loses_nothing():
    def aside(x: torch.Tensor) -> torch.Tensor:
        before = gc.get_threshold()
        gc.set_threshold(0)
        gc.set_threshold(*before)
        return x

    with Driver(keep_values=True):
        around(aside)(X)
    assert gc.get_threshold()[0] == FIRST


def test_where_no_values_are_kept_the_threshold_stays():
    seen = []

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.append(gc.get_threshold()[0])
        return x

    with Driver(keep_values=False):
        around(look)(X)
    assert seen == [FIRST]
