"""The filters `nan` and `inf`: where they stop, what they say, and what they leave alone."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.debugger import Debugger
from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.selectors import parse_selector
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.graphs.tracer import trace_with_sources
from sample_models import nan as sample
from tests.engine.driver import Driver, assert_same, plain_values

NAN, INF = float("nan"), float("inf")


def watch(driver: Driver | Debugger, *names: str, **conditions: str) -> None:
    """Turn filters on; a keyword gives one its selector."""
    debugger = driver.debugger if isinstance(driver, Driver) else driver
    selectors = {name: parse_selector(text) for name, text in conditions.items()}
    debugger.filter_exceptions(ExceptionFilters(frozenset({*names, *conditions}), selectors))


def build(*functions: Callable[..., Any], tail: int = 150) -> fx.GraphModule:
    """x, then each function of the value before it as f0, f1, ...; then `tail` additions."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for i, function in enumerate(functions):
        value = graph.create_node("call_function", function, (value,), name=f"f{i}")
    for i in range(tail):
        value = graph.create_node("call_function", torch.mul, (value, 1), name=f"n{i}")
    graph.output(value)
    return fx.GraphModule(nn.Module(), graph, "Built")


def same(x: torch.Tensor) -> torch.Tensor:
    return x * 1


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("runs_before", [0, 1, 2, 4])
def test_it_stops_after_the_first_node_and_its_users_are_not_reported(runs_before, keep):
    module = build(torch.neg, torch.log)
    seen = []

    def look(driver: Driver, thread: DebugThread, stop: Stop) -> None:
        frame = thread.frames[-1]
        seen.append([frame.program.nodes[i].name for i in frame.computed()])

    with Driver(at_stop=look, keep_values=keep) as driver:
        watch(driver, "nan", "inf")
        for _ in range(runs_before):
            module(torch.tensor([-1.0, -2.0]))
        module(torch.tensor([-1.0, 2.0]))
    assert driver.places == ["after %f1"]
    assert [(s.reason, type(s.error).__name__) for s in driver.stops] == [("exception", "NaN")]
    assert driver.stops[0].text == (
        "%f1 has NaN at [1], 1 of 2 values\n  %f0: f32[2] cpu  min -2  max 1  mean -0.5"
    )
    assert seen == [["x", "f0", "f1"]]


def test_the_sample_becomes_inf_one_node_before_it_becomes_nan():
    module = trace_with_sources(sample.model())
    with Driver() as driver:
        watch(driver, "nan", "inf")
        module(*sample.example_inputs())
    assert driver.places == ["after %truediv", "after %softmax"]
    assert [type(s.error).__name__ for s in driver.stops] == ["Inf", "NaN"]
    assert driver.stops[0].text.splitlines()[0] == "%truediv has Inf at [2, 0], 3 of 9 values"


def test_only_the_kind_that_is_ticked_stops():
    module = build(torch.reciprocal, torch.sin)
    with Driver() as driver:
        watch(driver, "nan")
        for _ in range(4):
            module(torch.tensor([0.0]))
    assert driver.places == ["after %f1"] * 4


@pytest.mark.parametrize("runs_before", [0, 3])
def test_a_selector_narrows_the_filter_to_its_nodes(runs_before):
    module = build(torch.log, torch.neg)
    with Driver() as driver:
        watch(driver, nan=r"/^%n[34]\b/")
        for _ in range(runs_before):
            module(torch.tensor([1.0]))
        module(torch.tensor([-1.0]))
    assert driver.places == ["after %n3"]


def test_after_the_stop_the_run_goes_on_with_the_same_values():
    module = build(torch.log)
    kept: list[Any] = []

    def look(driver: Driver, thread: DebugThread, stop: Stop) -> None:
        kept.append(thread.frames[-1])

    x = torch.tensor([-1.0, 2.0])
    expected = plain_values(module, x)
    with Driver("over over over", at_stop=look) as driver:
        watch(driver, "nan")
        for _ in range(3):
            result = module(x)
            assert_same(result, expected["output"])
    assert driver.places[:4] == ["after %f0", "%n0", "%n1", "%n2"]


def test_an_edit_at_the_stop_is_what_later_nodes_read():
    module = build(torch.log)

    def mend(driver: Driver, thread: DebugThread, stop: Stop) -> None:
        frame = thread.frames[-1]
        frame.set_value(frame.position, torch.tensor([5.0]))

    with Driver(at_stop=mend) as driver:
        watch(driver, "nan")
        results = [module(torch.tensor([-1.0])).item() for _ in range(3)]
    assert results == [5.0] * 3
    assert driver.places == ["after %f0"] * 3


@pytest.mark.parametrize("runs_before", [0, 3])
def test_a_value_is_looked_at_before_it_is_overwritten(runs_before):
    module = build(torch.log, torch.zero_, same)
    with Driver() as driver:
        watch(driver, "nan")
        for _ in range(runs_before):
            module(torch.tensor([1.0]))
        module(torch.tensor([-1.0]))
    assert driver.places == ["after %f0"]


def test_a_node_that_writes_nan_into_an_argument_is_the_one_to_blame():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.neg, (x,))
    graph.create_node("call_function", setitem, (y, 1, NAN), name="put")
    graph.output(graph.call_function(torch.add, (y, 1)))
    module = fx.GraphModule(nn.Module(), graph)
    with Driver() as driver:
        watch(driver, "nan")
        module(torch.zeros(3))
    assert driver.places == ["after %put"]
    assert driver.stops[0].text == "%neg, which %put wrote to, has NaN at [1], 1 of 3 values"


def setitem(target: torch.Tensor, index: int, value: float) -> None:
    target[index] = value


@pytest.mark.parametrize("place", ["f1", "n40"])
def test_it_comes_before_a_breakpoint_or_an_error_further_on(place):
    def fail(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")

    module = build(torch.log, torch.neg)
    with Driver() as driver:
        watch(driver, "nan", "raised")
        driver.break_on(place)
        for value in (1.0, 1.0, -1.0):
            module(torch.tensor([value]))
    assert driver.places == [f"%{place}", f"%{place}", "after %f0", f"%{place}"]
    failing = build(torch.log, torch.neg, fail, tail=0)
    with Driver() as driver:
        watch(driver, "nan", "raised")
        for _ in range(3):
            with pytest.raises(ValueError, match="no"):
                failing(torch.tensor([-1.0]))
    assert driver.places == ["after %f0", "raised %f2"] * 3


def test_random_nodes_are_not_run_twice():
    module = build(torch.log, torch.neg, nn.functional.dropout, torch.exp)
    x = torch.full((64,), -1.0)
    torch.manual_seed(3)
    expected = plain_values(module, x)["output"]
    with Driver() as driver:
        watch(driver, "nan")
        for _ in range(3):
            torch.manual_seed(3)
            assert_same(module(x), expected)
    assert set(driver.places) == {"after %f0"}


def test_an_input_or_a_parameter_that_is_bad_is_reported_itself():
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(5000))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight

    module = fx.symbolic_trace(Scaled())
    x = torch.ones(5000)
    with Driver() as driver:
        watch(driver, "nan")
        for _ in range(4):
            module(x)
        with torch.no_grad():
            module.get_parameter("weight")[7] = NAN
        module(x)
        module(torch.full((5000,), NAN))
    assert driver.places == ["after %weight", "after %x", "after %weight"]
    assert driver.stops[0].text == "%weight has NaN at [7], 1 of 5000 values"


VALUES = {
    "float16": torch.tensor([1.0, NAN, 60000.0, 60000.0], dtype=torch.float16),
    "bfloat16": torch.tensor([1.0, NAN], dtype=torch.bfloat16),
    "float64": torch.tensor([1.0, NAN], dtype=torch.float64),
    "float8": torch.tensor([1.0, NAN]).to(torch.float8_e4m3fn),
    "complex": torch.tensor([1.0, complex(0, NAN)]),
    "sparse": torch.tensor([[0.0, NAN]]).to_sparse(),
    "large": torch.cat([torch.zeros(9000), torch.tensor([NAN])]),
    "tuple": (torch.zeros(2), [torch.zeros(1), torch.tensor([NAN])]),
    "dict": {"y": torch.tensor([0.0, NAN])},
    "number": NAN,
    "no dimensions": torch.tensor(NAN),
    "transposed": torch.tensor([[0.0, NAN], [0.0, 0.0]]).t(),
}
WHERE = {
    "large": "[9000]",
    "tuple": "[1][1][0]",
    "dict": "['y'][1]",
    "number": "its only value",
    "no dimensions": "its only value",
    "transposed": "[1, 0]",
    "sparse": "[0, 1]",
}


@pytest.mark.parametrize("name", VALUES)
def test_every_kind_of_value_is_looked_at(name):
    clean = _zeros_like(VALUES[name])
    values = [clean, clean, clean, VALUES[name]]
    graph = fx.Graph()
    graph.output(graph.create_node("call_function", lambda: values.pop(0), (), name="made"))
    module = fx.GraphModule(nn.Module(), graph)
    with Driver() as driver:
        watch(driver, "nan", "inf")
        for _ in range(4):
            module()
    assert driver.places == ["after %made"]
    where = WHERE.get(name, "[1]")
    assert driver.stops[0].text.startswith(f"%made has NaN at {where}, 1 of ")


def _zeros_like(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_zeros_like, value))
    return {k: _zeros_like(v) for k, v in value.items()} if isinstance(value, dict) else 0.0


@pytest.mark.parametrize(
    "value",
    [torch.tensor([1, 2]), torch.tensor([True]), 3, None, "text", torch.zeros(2, device="meta")],
    ids=str,
)
def test_what_cannot_hold_nan_never_stops(value):
    module = build(lambda x: value, str)
    with Driver() as driver:
        watch(driver, "nan", "inf")
        module = build(lambda x: value, tail=0)
        module(torch.zeros(1))
    assert driver.stops == []


def test_finite_values_whose_sum_is_not_do_not_stop():
    big = torch.finfo(torch.float32).max
    module = build(same)
    with Driver() as driver:
        watch(driver, "nan", "inf")
        for _ in range(4):
            module(torch.full((6000,), big))
            module(torch.full((4,), big))
    assert driver.stops == []


def test_a_nan_found_in_a_graph_is_not_reported_again_by_its_caller():
    inner = build(torch.log, tail=2)

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.add(self.inner(x), 1)

    class KeepsInner(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return isinstance(m, fx.GraphModule)

    outer = fx.GraphModule(Outer(), KeepsInner().trace(Outer()))
    with Driver() as driver:
        watch(driver, "nan")
        outer(torch.tensor([-1.0]))
        outer(torch.tensor([NAN]))
    assert driver.places == ["after %inner/f0", "after %x"]


def test_a_users_interpreter_is_watched_node_by_node():
    class Mine(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            return super().run_node(n)

    module = build(torch.log, tail=3)
    with Driver() as driver:
        watch(driver, "nan")
        Mine(module).run(torch.tensor([-1.0]))
    assert driver.places == ["after %f0"]


def test_switching_a_module_to_training_is_noticed():
    torch.manual_seed(0)
    module = fx.symbolic_trace(nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5), nn.Tanh()))
    x = torch.randn(4, 2)
    with Driver() as driver:
        watch(driver, "nan")
        module.eval()
        module(x)
        module.train()
        before = module.get_buffer("0.num_batches_tracked").item()
        x[0, 0] = NAN
        module(x)
        after = module.get_buffer("0.num_batches_tracked").item()
    assert driver.places == ["after %input_1"]
    assert after - before == 1


def test_without_filters_nothing_is_looked_at():
    with Driver() as driver:
        build(torch.log)(torch.tensor([-1.0]))
    assert driver.stops == []


def test_the_filter_may_be_ticked_at_a_stop():
    module = build(torch.neg, torch.log)

    def tick(driver: Driver, thread: DebugThread, stop: Stop) -> None:
        if stop.reason == "function breakpoint":
            watch(driver, "nan")

    for _ in range(2):
        with Driver(at_stop=tick) as driver:
            driver.break_on("f1")
            for _ in range(3):
                watch(driver)
                module(torch.tensor([1.0]))
        assert driver.places == ["%f1", "after %f1"] * 3
