"""Errors raised by nodes: unchanged for the user, stopped at once, at the right node."""

import gc
import weakref
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.postmortem import failed_frames
from fxdap.engine.selectors import parse_selector
from tests.engine.driver import Driver
from tests.engine.graphs import calling

X = torch.zeros(2)
RUNS = pytest.mark.parametrize("runs_before", [0, 1, 2])


class OwnError(Exception):
    def __init__(self, code: int, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code


class Switch:
    """Raises when told to."""

    __name__ = "switch"

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.on = False

    def __call__(self, x: Any) -> Any:
        if self.on:
            raise self.error
        return x


def failing(error: BaseException, before: int = 0) -> tuple[fx.GraphModule, Switch]:
    """A graph whose node `boom` raises after `before` other nodes."""
    switch = Switch(error)
    graph = fx.Graph()
    value = graph.placeholder("x")
    for _ in range(before):
        value = graph.call_function(torch.neg, (value,))
    boom = graph.create_node("call_function", switch, (value,), name="boom")
    graph.output(graph.call_function(torch.neg, (boom,)))
    return fx.GraphModule(nn.Module(), graph, "Failing"), switch


def around(inner: fx.GraphModule) -> fx.GraphModule:
    """A graph with a node that calls `inner`."""

    def call(x: Any) -> Any:
        return inner(x)

    return calling(call)


@RUNS
@pytest.mark.parametrize("before", [0, 30, 40])
def test_an_error_keeps_its_type_and_args_and_stops_at_its_node(runs_before, before):
    error = OwnError(7, "why")
    module, switch = failing(error, before)
    with Driver() as driver:
        for _ in range(runs_before):
            module(X)
        switch.on = True
        with pytest.raises(OwnError) as caught:
            module(X)
    assert caught.value is error
    assert (error.args, error.code) == ((7, "why"), 7)
    assert not hasattr(error, "__notes__")
    assert [(s.reason, s.place) for s in driver.stops] == [("exception", "raised %boom")]
    assert driver.stops[0].error is error
    assert driver.stops[0].text == "OwnError: (7, 'why')"


@pytest.mark.parametrize(
    "error", [KeyError("k"), StopIteration("s"), IndexError(), RuntimeError("two\nlines")]
)
def test_errors_that_python_treats_specially_pass_through(error):
    module, switch = failing(error)
    switch.on = True
    with Driver() as driver:
        for _ in range(3):
            with pytest.raises(type(error)) as caught:
                module(X)
            assert caught.value is error
    assert driver.places[0] == "raised %boom"


def test_the_inputs_of_the_raising_node_are_at_hand():
    seen = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.top
        seen.append(frame.argument(frame.node.args[0]))

    module, switch = failing(ValueError("no"), before=1)
    switch.on = True
    for keep in (True, False):
        with Driver(at_stop=look, keep_values=keep):
            for _ in range(3):
                with pytest.raises(ValueError, match="no"):
                    module(X + 1)
    assert all(torch.equal(value, -X - 1) for value in seen)
    assert len(seen) == 6


def test_an_error_in_a_nested_graph_stops_once_at_its_innermost_node():
    inner, switch = failing(ValueError("deep"))
    outer = around(inner)
    switch.on = True
    with Driver() as driver:
        for _ in range(3):
            switch.error = ValueError("deep")
            with pytest.raises(ValueError, match="deep"):
                outer(X)
    assert driver.places == ["raised %boom"] * 3
    assert driver.stops[0].stack == ("Failing%boom", "Calling%called")


def test_an_error_converted_on_its_way_out_stops_once():
    inner, switch = failing(KeyError("deep"))

    def convert(x: Any) -> Any:
        try:
            return inner(x)
        except KeyError as error:
            raise RuntimeError("converted") from error

    outer = calling(convert)
    switch.on = True
    with Driver() as driver:
        for _ in range(3):
            switch.error = KeyError("deep")
            with pytest.raises(RuntimeError, match="converted"):
                outer(X)
    assert driver.places == ["raised %boom"] * 3


def test_an_error_while_another_is_handled_stops_at_its_own_node():
    first, first_switch = failing(KeyError("first"))
    second, second_switch = failing(ValueError("second"))
    first_switch.on = second_switch.on = True

    def fall_back(x: Any) -> Any:
        try:
            return first(x)
        except KeyError:
            return second(x)

    with Driver() as driver, pytest.raises(ValueError, match="second"):
        calling(fall_back)(X)
    assert [s.stack[0] for s in driver.stops] == ["Failing%boom", "Failing_2%boom"]


def test_an_error_that_a_node_catches_itself_stops_where_it_was_raised_in_a_graph():
    inner, switch = failing(ValueError("caught"))
    switch.on = True

    def rescue(x: Any) -> Any:
        try:
            return inner(x)
        except ValueError:
            return x

    with Driver() as driver:
        assert torch.equal(calling(rescue)(X), -X)
    assert driver.places == ["raised %boom"]


def test_without_the_filter_errors_do_not_stop():
    module, switch = failing(ValueError("quiet"))
    switch.on = True
    with Driver() as driver:
        driver.debugger.exceptions.enabled = frozenset()
        for _ in range(3):
            with pytest.raises(ValueError, match="quiet"):
                module(X)
    assert driver.stops == []


@pytest.mark.parametrize(("selector", "stops"), [("boom", 3), ("op:call_method", 0)])
def test_a_selector_narrows_the_raised_filter(selector, stops):
    module, switch = failing(ValueError("some"))
    switch.on = True
    with Driver() as driver:
        driver.debugger.exceptions.conditions = {"raised": parse_selector(selector)}
        for _ in range(3):
            with pytest.raises(ValueError, match="some"):
                module(X)
    assert len(driver.stops) == stops


@pytest.mark.parametrize("runs_before", [0, 2])
def test_a_dead_runs_frames_are_found_in_its_error(runs_before):
    inner, switch = failing(ValueError("late"))
    outer = around(inner)
    with Driver() as driver:
        driver.debugger.exceptions.enabled = frozenset()
        for _ in range(runs_before):
            outer(X)
        switch.on = True
        with pytest.raises(ValueError, match="late") as caught:
            outer(X)
    frames = failed_frames(caught.value)
    assert [f.node.name for f in frames] == ["called", "boom"]
    assert [f.phase for f in frames] == ["raised", "raised"]
    assert failed_frames(ValueError("of nobody's")) == []


def test_an_error_the_user_caught_keeps_no_values_alive():
    alive: list[weakref.ref[Any]] = []

    def note(driver: Driver, thread: Any, stop: Any) -> None:
        alive.append(weakref.ref(thread.top.registers[1]))

    module, switch = failing(ValueError("caught"), before=1)
    switch.on = True
    with Driver(at_stop=note) as driver:
        for _ in range(2):
            try:
                module(X)
            except ValueError:
                pass
        switch.error = ValueError("fresh")
        driver.stops.clear()
        gc.collect()
        assert [ref() for ref in alive] == [None, None]


def test_interrupts_pass_through_without_a_stop():
    module, switch = failing(KeyboardInterrupt())
    with Driver() as driver:
        for on in (False, True, True):
            switch.on = on
            if on:
                with pytest.raises(KeyboardInterrupt):
                    module(X)
            else:
                module(X)
    assert driver.stops == []


def test_an_error_raised_again_later_is_found_at_its_new_node():
    stored = ValueError("stored")
    module, switch = failing(stored, before=3)
    with Driver() as driver:
        switch.on = True
        for _ in range(4):
            with pytest.raises(ValueError, match="stored"):
                module(X)
    assert driver.places == ["raised %boom"] * 4
