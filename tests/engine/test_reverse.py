"""Reverse-continue to what the watches stop at, and what is news again after going back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.conditions import HitCondition
from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.moves import restart, step_back
from fxdap.engine.plan import Plan, step_over
from fxdap.engine.reverse import reverse_continue
from fxdap.engine.selectors import parse_selector
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from fxdap.engine.watches.data import DataLocation
from tests.engine.driver import Driver

Move = Callable[[DebugThread], "Travel | Plan | None"]


def go(thread: DebugThread) -> None:
    return None


def over(thread: DebugThread) -> Plan:
    return step_over(thread.frames[-1])


def driven(*moves: Move) -> Driver:
    """At each stop the next of the moves; then the run ends."""
    left = list(moves)

    def at_stop(driver: Driver, thread: DebugThread, stop: Stop) -> Travel | Plan | None:
        return left.pop(0)(thread) if left else None

    return Driver(at_stop=at_stop)


def watch(driver: Driver, *names: str, **conditions: str) -> None:
    selectors = {name: parse_selector(text) for name, text in conditions.items()}
    driver.debugger.filter_exceptions(ExceptionFilters(frozenset({*names, *conditions}), selectors))


def graph_of(*steps: tuple[Any, ...]) -> fx.GraphModule:
    """x, then nodes f0, f1, ... of a target and arguments; an int stands for f<n>, "x" for x."""
    graph = fx.Graph()
    known: dict[Any, fx.Node] = {"x": graph.placeholder("x")}
    for i, (target, *args) in enumerate(steps):
        op = "call_method" if isinstance(target, str) else "call_function"
        given = tuple(known.get(a, a) if isinstance(a, (str, int)) else a for a in args)
        known[i] = graph.create_node(op, target, given, name=f"f{i}")
    graph.output(known[len(steps) - 1])
    return fx.GraphModule(nn.Module(), graph, "Steps")


def logarithm() -> fx.GraphModule:
    return graph_of((torch.neg, "x"), (torch.log, 0), (torch.abs, 1), (torch.neg, 2))


ONES = torch.ones(2)


@pytest.mark.parametrize("runs_before", [0, 3])
def test_what_a_filter_stopped_at_is_stopped_at_on_the_way_back_and_again_forward(
    runs_before: int,
) -> None:
    module = logarithm()
    with driven(go, reverse_continue, reverse_continue, go) as driver:
        for _ in range(runs_before):
            module(-ONES)
        driver.break_on("f3")
        watch(driver, "nan")
        module(ONES)
    assert driver.places == ["after %f1", "%f3", "after %f1", "%x", "after %f1", "%f3"]
    assert driver.reasons[2] == "exception"
    for stop in driver.stops[:5:2]:
        assert stop.text.startswith("%f1 has NaN at [0], 2 of 2 values\n  %f0: f32[2]")


@pytest.mark.parametrize("back", [step_back, lambda t: restart(t, t.frames[-1])])
def test_after_going_back_a_watch_stops_again_when_the_node_runs_again(back: Move) -> None:
    with driven(back, go) as driver:
        watch(driver, "nan")
        logarithm()(ONES)
    assert [p for p in driver.places if p.startswith("after")] == ["after %f1"] * 2


def test_a_filter_that_is_set_late_finds_what_ran_before_it_and_only_where_it_began() -> None:
    def late(thread: DebugThread) -> Travel:
        watch(driver, "nan", "inf")
        return reverse_continue(thread)

    module = graph_of(
        (torch.log, "x"), (torch.neg, 0), (torch.sub, 1, 1), (torch.abs, 2), (torch.neg, 3)
    )
    with driven(late, reverse_continue, go, go) as driver:
        driver.break_on("f4")
        module(torch.zeros(2))
    assert driver.places[:4] == ["%f4", "after %f2", "after %f0", "after %f2"]
    assert driver.stops[1].text.startswith("%f2 has NaN")
    assert driver.stops[2].text.startswith("%f0 has Inf")


def test_a_filter_that_is_set_in_the_middle_is_not_told_of_what_was_there_already() -> None:
    def late(thread: DebugThread) -> None:
        watch(driver, "nan")

    with driven(late) as driver:
        driver.break_on("f2")
        logarithm()(ONES)
    assert driver.places == ["%f2"]


def test_a_selector_narrows_a_filter_on_the_way_back_too() -> None:
    with driven(reverse_continue) as driver:
        driver.break_on("f3")
        watch(driver, nan="f0 after:f2")
        logarithm()(ONES)
    assert driver.places == ["%f3", "%x", "%f3"]


def test_an_infinity_that_a_write_in_place_made_is_found_where_it_was_written() -> None:
    module = graph_of((torch.neg, "x"), ("div_", 0, 0.0), (torch.neg, 0), (torch.abs, 2))
    with driven(go, reverse_continue, go) as driver:
        driver.break_on("f3")
        watch(driver, "inf")
        module(ONES)
    assert driver.places == ["after %f1", "%f3", "after %f1", "%f3"]
    for stop in driver.stops[::2]:
        assert stop.text.startswith("%f1 has Inf at [0], 2 of 2 values")


def test_a_value_that_was_cleaned_in_place_is_bad_again_before_that() -> None:
    module = graph_of((torch.log, "x"), ("nan_to_num_", 0), (torch.neg, 0), (torch.abs, 2))

    with driven(go, step_back, step_back, go) as driver:
        driver.break_on("f2")
        watch(driver, "nan")
        module(-ONES)
    assert driver.places == ["after %f0", "%f2", "%f1", "%f0", "after %f0", "%f2"]


def in_place() -> fx.GraphModule:
    return graph_of(
        (torch.neg, "x"), ("view", 0, -1), ("add_", 1, 2), (torch.abs, 0), ("mul_", 0, 3.0),
        (torch.neg, 0),
    )  # fmt: skip


def test_writes_in_place_are_stopped_at_on_the_way_back() -> None:
    with driven(go, go, reverse_continue, reverse_continue, reverse_continue) as driver:
        driver.break_on("f5")
        watch(driver, "mutation")
        in_place()(ONES)
    assert driver.places[:6] == ["after %f2", "after %f4", "%f5", "after %f4", "after %f2", "%x"]
    assert [s.text for s in driver.stops[3:5]] == [s.text for s in driver.stops[1::-1]]


def test_data_breakpoints_stop_on_the_way_back_with_their_conditions_and_hits() -> None:
    module = in_place()
    with Driver() as driver:
        name = driver.runs.program(module).name
    for given, places in (
        ({}, ["after %f2", "after %f4", "%f5", "after %f4", "after %f2", "%x"]),
        ({"condition": "f0.sum() > 2"}, ["after %f4", "%f5", "after %f4", "%x"]),
        ({"hit_condition": HitCondition.parse("1")}, ["after %f2", "%f5", "after %f2", "%x"]),
    ):
        moves = [go] * places.index("%f5")
        with driven(*moves, *[reverse_continue] * 3) as driver:
            location = DataLocation(name, "f0", "write")
            data = Breakpoint(id=7, location=location, **given)
            driver.debugger.breakpoints.replace("data", [data])
            driver.break_on("f5")
            module(ONES)
        assert driver.places[: len(places)] == places, given
        assert driver.stops[0].ids == (7,)


def test_a_value_unlike_its_metadata_is_stopped_at_on_the_way_back() -> None:
    module = logarithm()
    for node in module.graph.nodes:
        if node.name == "f1":
            node.meta["val"] = torch.empty(3, device="meta")
    with driven(go, reverse_continue, reverse_continue) as driver:
        driver.break_on("f3")
        watch(driver, "meta")
        module(ONES)
    assert driver.places[:4] == ["after %f1", "%f3", "after %f1", "%x"]
    assert driver.stops[2].text == driver.stops[0].text


def test_a_walk_that_is_no_longer_wanted_stops_where_it_has_come_to() -> None:
    def until_f2(thread: DebugThread) -> Travel:
        return reverse_continue(thread, lambda cursor: cursor > 2)

    with driven(until_f2) as driver:
        driver.break_on("f3")
        result = logarithm()(ONES)
    assert driver.places == ["%f3", "%f1", "%f3"]
    assert driver.reasons[1] == "step"
    assert result.isnan().all()
