"""How long values are kept: within the budget, never letting go of what is still read."""

from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.frame import ValueUnavailableError
from fxdap.engine.program import RELEASED
from fxdap.engine.retention import Retention, free_device_memory
from tests.engine.driver import Driver
from tests.engine.graphs import chain

X = torch.zeros(256)
SIZE = X.nbytes
RUNS = pytest.mark.parametrize("runs_before", [0, 1, 2])


def budgeted(budget: int, **options: Any) -> Driver:
    driver = Driver(**options)
    driver.debugger.retention = Retention(lambda free: budget)
    return driver


def released(thread: Any) -> list[str]:
    frame = thread.top
    end = frame.position + (frame.phase == "after")
    pairs = zip(frame.program.nodes[:end], frame.registers, strict=False)
    return [node.name for node, value in pairs if value is RELEASED]


class Look:
    """Notes at each stop which values are released and which are there."""

    def __init__(self) -> None:
        self.released: list[list[str]] = []
        self.computed: list[int] = []

    def __call__(self, driver: Driver, thread: Any, stop: Any) -> None:
        self.released.append(released(thread))
        self.computed.append(len(list(thread.top.computed())))


@RUNS
def test_within_the_budget_every_value_is_kept(runs_before):
    look, module = Look(), chain(70)
    with budgeted(100 * SIZE, at_stop=look) as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("after:output")
        module(X)
    assert look.released == [[]]
    assert look.computed == [72]


@RUNS
def test_over_the_budget_the_oldest_values_go_first(runs_before):
    look, module = Look(), chain(100)
    with budgeted(50 * SIZE, at_stop=look) as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("n97")
        module(X)
    gone = look.released[0]
    assert gone == [f"n{i}" for i in range(len(gone))]
    assert 40 <= len(gone) <= 50
    assert look.computed == [98 - len(gone)]


@RUNS
@pytest.mark.parametrize("budget", [0, 1, SIZE, 10 * SIZE])
def test_a_small_budget_never_takes_what_is_read_later_nor_the_result(runs_before, budget):
    graph = fx.Graph()
    first = value = graph.call_function(torch.clone, (graph.placeholder("x"),))
    for _ in range(70):
        value = graph.call_function(torch.add, (value, 1))
    graph.output((graph.call_function(torch.add, (value, first)), first, value))
    module = fx.GraphModule(nn.Module(), graph)
    plain = module(X + 1)
    with budgeted(budget):
        for _ in range(runs_before):
            module(X + 1)
        result = module(X + 1)
    assert all(torch.equal(a, b) for a, b in zip(result, plain, strict=True))
    single = chain(64)
    with budgeted(budget):
        for _ in range(runs_before + 1):
            assert torch.equal(single(X), X + 64)


def test_a_released_value_says_so():
    messages: list[str] = []

    def ask(driver: Driver, thread: Any, stop: Any) -> None:
        with pytest.raises(ValueUnavailableError) as caught:
            thread.top.value(thread.top.program.by_name["n0"])
        messages.append(str(caught.value))

    with budgeted(0, at_stop=ask) as driver:
        driver.break_on("n60", condition="n0.sum() > 0")
        chain(70)(X)
    text = "%n0 was released: no later node reads it"
    assert messages[0].startswith(text)
    assert text in driver.stops[0].text


def test_inputs_and_parameters_are_neither_counted_nor_released():
    root = nn.Module()
    root.register_buffer("big", torch.zeros(64 * 256))
    root.weight = nn.Parameter(torch.zeros(64 * 256))
    graph = fx.Graph()
    used = graph.call_function(torch.neg, (graph.placeholder("x"),))
    for name in ("big", "weight"):
        part = graph.call_function(torch.narrow, (graph.get_attr(name), 0, 0, 256))
        used = graph.call_function(torch.add, (used, part))
    for _ in range(40):
        used = graph.call_function(torch.neg, (used,))
    graph.output(used)
    look = Look()
    with budgeted(64 * SIZE, at_stop=look) as driver:
        driver.break_on("output")
        module = fx.GraphModule(root, graph)
        for _ in range(3):
            module(X)
    assert look.released == [[], [], []]


def test_values_in_tuples_count_and_are_released():
    graph = fx.Graph()
    x = graph.placeholder("x")
    for i in range(40):
        moved = graph.call_function(torch.add, (x, i))
        graph.call_function(torch.sort, (moved,))
    graph.output(x)
    look = Look()
    with budgeted(4 * SIZE, at_stop=look) as driver:
        driver.break_on("output")
        fx.GraphModule(nn.Module(), graph)(X)
    assert "sort_1" in look.released[0]


@RUNS
def test_needed_mode_keeps_what_later_nodes_read_only(runs_before):
    look, module = Look(), chain(70)
    with Driver(at_stop=look, keep_values=False) as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("n50")
        module(X)
    assert look.released == [[f"n{i}" for i in range(49)]]
    assert look.computed == [2]


def test_needed_mode_keeps_a_value_until_its_last_reader():
    graph = fx.Graph()
    x = graph.placeholder("x")
    early = graph.create_node("call_function", torch.neg, (x,), name="early")
    middle = graph.create_node("call_function", torch.abs, (early,), name="middle")
    late = graph.create_node("call_function", torch.add, (middle, early), name="late")
    last = graph.create_node("call_function", torch.neg, (late,), name="last")
    graph.output(last)
    look = Look()
    driver = Driver(at_stop=look, entry=True, keep_values=False)
    driver.forever = "over"
    with driver:
        fx.GraphModule(nn.Module(), graph)(X)
    assert look.released == [[], [], [], [], ["early", "middle"], ["early", "middle", "late"]]


@RUNS
def test_the_budget_holds_for_interpreter_runs_too(runs_before):
    look, module = Look(), chain(100)
    with budgeted(50 * SIZE, at_stop=look) as driver:
        for _ in range(runs_before):
            fx.Interpreter(module).run(X)
        driver.break_on("n97")
        assert torch.equal(fx.Interpreter(module).run(X), X + 100)
    gone = look.released[0]
    assert gone == [f"n{i}" for i in range(len(gone))]
    assert 40 <= len(gone) <= 50


def test_needed_mode_holds_for_interpreter_runs_too():
    look, module = Look(), chain(70)
    with Driver(at_stop=look, keep_values=False) as driver:
        driver.break_on("n50")
        fx.Interpreter(module).run(X)
    assert look.released == [[f"n{i}" for i in range(49)]]


@RUNS
def test_values_without_memory_count_for_nothing(runs_before):
    look, module = Look(), chain(70)
    with budgeted(1, at_stop=look) as driver:
        for _ in range(runs_before):
            module(X.to("meta"))
        driver.break_on("after:output")
        module(X.to("meta"))
    assert look.released == [[]]


def test_a_device_that_does_not_tell_shares_the_hosts_memory():
    assert free_device_memory(torch.device("mps")) is None
    assert free_device_memory(torch.device("meta")) is None


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@RUNS
def test_values_on_a_device_are_kept_within_its_budget(runs_before):
    free = free_device_memory(torch.device("cuda"))
    assert free is not None
    assert 0 < free <= torch.cuda.get_device_properties(0).total_memory
    look, module = Look(), chain(100)
    with budgeted(50 * SIZE, at_stop=look) as driver:
        for _ in range(runs_before):
            module(X.cuda())
        driver.break_on("n97")
        module(X.cuda())
    assert 40 <= len(look.released[0]) <= 50
