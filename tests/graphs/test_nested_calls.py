"""Bodies that run without a frame: what a user can see is the same as with one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx

from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.frame import Frame
from fxdap.engine.moves import step_back
from fxdap.engine.names import evaluate
from fxdap.engine.selectors import parse_selector
from tests.engine.driver import Driver, assert_same

CALLS = 9


class Repeat:
    """A higher-order op in plain Python, so that a test can act between two calls of the body."""

    __name__ = "repeat"

    def __init__(self) -> None:
        self.before: dict[int, Callable[[], object]] = {}

    def __call__(self, body: Any, x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        for call in range(1, CALLS + 1):
            self.before.get(call, int)()
            x = body(x, table)
        return x


def body_graph() -> fx.GraphModule:
    """Looks up a row by the number of rows that `x` has, and adds a row."""
    graph = fx.Graph()
    x, table = graph.placeholder("x"), graph.placeholder("table")
    doubled = graph.call_function(torch.mul, (x, 2))
    count = graph.call_method("size", (x, 0))
    row = graph.call_function(torch.select, (table, 0, count))
    padded = graph.call_function(torch.cat, ([doubled, row],))
    graph.output(padded)
    return fx.GraphModule(torch.nn.Module(), graph, "Body")


@pytest.fixture
def repeat() -> Repeat:
    return Repeat()


@pytest.fixture
def graph(repeat) -> fx.GraphModule:
    root = torch.nn.Module()
    root.body = body_graph()
    graph = fx.Graph()
    x, table = graph.placeholder("x"), graph.placeholder("table")
    result = graph.call_function(repeat, (graph.get_attr("body"), x, table))
    graph.output(graph.call_function(torch.neg, (result,)))
    return fx.GraphModule(root, graph, "Outer")


def inputs(rows: int = CALLS + 1) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(1), torch.arange(rows, dtype=torch.float32).unsqueeze(1)


@pytest.fixture
def framed(monkeypatch) -> list[str]:
    """The paths of the frames that are made."""
    made: list[str] = []
    original = Frame.__init__

    def init(frame: Frame, program: Any, *args: Any) -> None:
        made.append(program.path)
        original(frame, program, *args)

    monkeypatch.setattr(Frame, "__init__", init)
    return made


def call_of(thread: Any) -> int:
    return int(thread.frames[-1].call)


def test_only_the_first_call_has_a_frame_and_the_result_stays(graph, framed):
    plain = graph(*inputs())
    with Driver() as driver:
        assert_same(graph(*inputs()), plain)
        assert_same(graph(*inputs()), plain)
    assert framed == ["", "body", ""]
    assert driver.stops == []


def test_an_error_stops_at_its_node_with_every_value_and_its_number(graph):
    seen: list[Any] = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        values = {node.name: frame.registers[i] for i, node in enumerate(frame.program.nodes[:4])}
        seen.append((frame.call, values))

    with Driver(at_stop=look) as driver, pytest.raises(IndexError) as caught:
        graph(*inputs(rows=6))
    assert driver.places == ["raised %body/select"]
    assert driver.stops[0].stack == ("Outer%select", "Outer%repeat")
    ((number, values),) = seen
    assert number == 6
    assert values["size"] == 6
    assert_same(values["mul"], values["x"] * 2)
    assert "fxgraph" in str(caught.traceback[-1].path)


def test_going_back_from_such_an_error_and_on_again_gives_the_same(graph):
    def back(driver: Driver, thread: Any, stop: Any) -> Any:
        return step_back(thread) if len(driver.places) == 1 else None

    with Driver(at_stop=back) as driver, pytest.raises(IndexError):
        graph(*inputs(rows=6))
    assert driver.places == ["raised %body/select", "%body/select", "raised %body/select"]


@pytest.mark.parametrize("call", [2, 7])
def test_a_breakpoint_set_meanwhile_acts_in_the_next_call(graph, repeat, call):
    numbers: list[int] = []
    with Driver(at_stop=lambda _, thread, stop: numbers.append(call_of(thread))) as driver:
        repeat.before[call] = lambda: driver.break_on("cat", hit="== 2")
        graph(*inputs())
    assert driver.places == ["%body/cat"]
    assert numbers == [call + 1]


def test_a_pause_stops_in_the_next_call(graph, repeat):
    numbers: list[int] = []
    with Driver(at_stop=lambda _, thread, stop: numbers.append(call_of(thread))) as driver:
        repeat.before[5] = lambda: driver.debugger.current_thread().pause()
        graph(*inputs())
    assert driver.places == ["%body/x"]
    assert driver.reasons == ["pause"]
    assert numbers == [5]


def test_a_step_in_enters_and_a_step_over_does_not(graph):
    with Driver("over go in out go") as driver:
        driver.break_on("repeat")
        graph(*inputs())
        graph(*inputs())
    assert driver.places == ["%repeat", "%neg", "%repeat", "%body/x", "%neg"]


def test_a_watch_looks_at_every_body(graph):
    with Driver() as driver:
        graph(*inputs())
        only = {"nan": parse_selector("op:call_function")}
        driver.debugger.filter_exceptions(ExceptionFilters(frozenset({"nan"}), only))
        x, table = inputs()
        table[4] = torch.nan
        graph(x, table)
    assert driver.places[0] == "after %body/select"


def test_two_threads_at_once(graph):
    plain = graph(*inputs())
    results: list[Any] = []
    with Driver() as driver:
        graph(*inputs())
        threads = [
            threading.Thread(target=lambda: results.append(graph(*inputs()))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert_same(results, [plain] * 4)
    assert driver.stops == []


def test_the_console_in_a_body_says_whose_module_it_asks(graph):
    def ask(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        with pytest.raises(AttributeError) as caught:
            evaluate("module.scale + 1", frame)
        told.append(str(caught.value))
        assert evaluate("module.training", frame) is True
        with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'scale'"):
            evaluate("x.scale", frame)

    told: list[str] = []
    with Driver(at_stop=ask) as driver:
        driver.break_on("mul", hit="1")
        graph(*inputs())
    assert told == [
        "'module' is the body 'body' of Outer here, and that has no 'scale'; choose the frame of "
        "Outer in the call stack to ask its module"
    ]


def test_calls_are_counted_anew_after_going_back_over_their_node(graph):
    numbers: list[int] = []

    def back(driver: Driver, thread: Any, stop: Any) -> Any:
        if driver.places == ["%neg"]:
            driver.clear()
            driver.break_on("mul")
            return step_back(thread)
        numbers.append(call_of(thread))
        return None

    with Driver(at_stop=back) as driver:
        driver.break_on("neg")
        graph(*inputs())
    assert driver.places == ["%neg", "%repeat"] + ["%body/mul"] * CALLS
    assert numbers == [1, *range(1, CALLS + 1)]
