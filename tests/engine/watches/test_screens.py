"""Watching for NaN and Inf while nodes run, and running a stretch again to find where one began."""

import operator
import random
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch.nn import functional

from fxdap.engine.watches import screens
from fxdap.engine.watches.screens import Screen
from tests.engine.driver import Driver
from tests.engine.watches.test_finite import INF, NAN, build, watch
from tests.engine.watches.test_implied import findings

LARGE = 80
"""Rows and columns of a tensor that is large enough to be looked at by itself."""


def found_screens(driver: Driver) -> list[Screen]:
    """The stretches that are looked at on the way, in the driver's only program."""
    (program,) = driver.debugger.programs()
    learned = driver.debugger.watches._watch(program).screens
    return [s for s in learned._found.values() if s is not None] if learned is not None else []


def ones() -> torch.Tensor:
    return torch.ones(LARGE, LARGE)


WRITES: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("call_function", torch.relu_, {}),
    ("call_function", functional.relu, {"inplace": True}),
    ("call_function", torch.ops.aten.relu_.default, {}),
    ("call_module", "relu", {}),
    ("call_method", "neg_", {}),
)


def random_module(seed: int) -> fx.GraphModule:
    """Large values: makers, views, and writes in place into what is fresh and what is not."""
    chance, graph = random.Random(seed), fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    calm = values.copy()
    for _ in range(25):
        first, second = chance.choice(calm[-4:]), chance.choice(calm[-4:])
        function = chance.choice((torch.add, torch.mul, torch.sub, torch.exp, torch.relu))
        given = (first, second) if function in (torch.add, torch.mul, torch.sub) else (first,)
        values.append(graph.call_function(function, given))
        if chance.random() < 0.4:
            op, target, kwargs = chance.choice(WRITES)
            values.append(graph.create_node(op, target, (values[-1],), kwargs))
        if chance.random() < 0.2:
            values.append(graph.call_method("add_", (values[-1], calm[-2])))
        if chance.random() < 0.3:
            parts = graph.call_function(torch.chunk, (values[-1], 2))
            halves = [graph.call_function(operator.getitem, (parts, i)) for i in range(2)]
            values.append(graph.call_function(torch.cat, (halves,)))
        calm.append(graph.call_function(torch.tanh, (values[-1],)))
    graph.output(calm[-1])
    return fx.GraphModule({"relu": nn.ReLU(inplace=True)}, graph, "Random")


@pytest.mark.parametrize("options", [{"keep_values": True}, {"time_travel": False}, {}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_it_finds_what_looking_at_every_value_finds(seed, options):
    module = random_module(seed)
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.rand(LARGE, LARGE, generator=generator) for _ in range(2))
    options = {"keep_values": False, **options}
    with Driver(**options) as learned:
        watch(learned, "nan", "inf")
        for _ in range(4):
            assert findings(learned, module, x.clone(), y.clone()) == []
        assert found_screens(learned)
        for bad in (NAN, -INF, -3e38, 200.0):
            y[1, seed] = bad
            with Driver(**options) as fresh:
                watch(fresh, "nan", "inf")
                expected = findings(fresh, module, x.clone(), y.clone())
            assert findings(learned, module, x.clone(), y.clone()) == expected
            given = x.clone(), y.clone()
            torch.testing.assert_close(
                module(*given), module.forward(x.clone(), y.clone()), rtol=0, atol=0, equal_nan=True
            )


def test_what_is_found_comes_before_what_raises_and_both_are_where_they_belong():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    logged = graph.call_function(torch.log, (x,))
    graph.output(graph.call_function(torch.matmul, (logged, y)))
    module = fx.GraphModule(nn.Module(), graph, "Raises")
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(4):
            module(ones(), ones())
        assert found_screens(driver)
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            module(-ones(), torch.ones(LARGE + 1, 2))
    assert driver.places == ["after %log"]


def test_a_sum_that_overflows_is_no_finding_and_is_not_tried_for_ever():
    module = build(torch.neg, torch.abs, tail=3)
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(3):
            module(ones())
        assert found_screens(driver)
        huge = ones() * 3e38
        for _ in range(3):
            assert torch.equal(module(huge), huge)
        assert found_screens(driver) == []
    assert driver.stops == []


def test_a_stretch_that_always_takes_long_is_made_shorter(monkeypatch):
    monkeypatch.setattr(screens, "LIMIT_S", 0.0)
    module = build(torch.neg, torch.abs, tail=5)
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(30):
            assert torch.equal(module(ones()), ones())
        spans = sorted((s.span.start, s.span.stop) for s in found_screens(driver))
    assert spans == [(i, i + 1) for i in range(len(module.graph.nodes))]


def test_other_code_sees_no_sums():
    seen = []

    class Noting(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    module = build(torch.neg, torch.abs, tail=2)
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(3):
            module(ones())
        assert found_screens(driver)
        with Noting():
            module(ones())
    assert seen == ["ones", "neg", "abs", "mul", "mul"]
    assert driver.stops == []


def test_what_a_write_in_place_brings_in_is_found_whatever_was_learned():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    negative = graph.call_function(torch.neg, (x,))
    graph.output(graph.call_method("add_", (negative, y)))
    module = fx.GraphModule(nn.Module(), graph, "Written")
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(4):
            module(ones(), ones())
        module(-3e38 * ones(), 3e38 * ones())
    assert driver.places == ["after %add_"]
    assert driver.stops[0].text.startswith("%add_ has Inf at [0, 0], 6400 of 6400 values")


def test_a_view_of_what_is_known_is_no_news():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    logged = graph.call_function(torch.log, (x,))
    graph.call_method("neg_", (y,))
    halves = graph.call_function(torch.chunk, (logged, 2))
    graph.call_method("neg_", (y,))
    first = graph.call_function(operator.getitem, (halves, 0))
    graph.output(graph.call_function(torch.neg, (first,)))
    module = fx.GraphModule(nn.Module(), graph, "Viewed")
    with Driver(keep_values=False, time_travel=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(4):
            module(ones(), ones())
        module(-ones(), ones())
    assert driver.places == ["after %log"]


@pytest.mark.parametrize("size", [2, LARGE])
def test_what_was_learned_from_whole_numbers_is_forgotten_for_others(size):
    graph = fx.Graph()
    x = graph.placeholder("x")
    negative = graph.call_function(torch.neg, (x,))
    graph.output(graph.call_function(torch.add, (negative, negative)))
    module = fx.GraphModule(nn.Module(), graph, "Doubled")
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(4):
            module(torch.ones(size, size, dtype=torch.int64))
        module(torch.full((size, size), 3e38))
    assert driver.places == ["after %add"]


@pytest.mark.parametrize("runs_before", [0, 4])
def test_what_was_written_is_no_news_under_another_name(runs_before):
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    negative = graph.call_function(torch.neg, (x,))
    whole = graph.call_method("view", (negative, -1))
    doubled = graph.call_function(torch.add, (y, y))
    graph.call_method("add_", (negative, doubled))
    graph.output([graph.call_function(torch.neg, (each,)) for each in (negative, whole)])
    module = fx.GraphModule(nn.Module(), graph, "Renamed")
    with Driver(keep_values=False, time_travel=False) as driver:
        watch(driver, "nan", "inf")
        for _ in range(runs_before):
            module(ones(), ones())
        module(ones(), 3e38 * ones())
    assert driver.places == ["after %add"]


@pytest.mark.parametrize("whole", [torch.ones(2, dtype=torch.int64), 1, (1, torch.ones(2).int())])
def test_a_node_that_gave_whole_numbers_is_looked_at_when_it_gives_others(whole):
    given = [whole] * 4 + [torch.tensor([1.0, NAN])]
    graph = fx.Graph()
    graph.output(graph.create_node("call_function", lambda: given[0], name="made"))
    module = fx.GraphModule(nn.Module(), graph, "Made")
    with Driver(keep_values=False) as driver:
        watch(driver, "nan", "inf")
        while given:
            module()
            fx.Interpreter(module).run()
            del given[0]
    assert driver.places == ["after %made", "after %made"]
