"""Breakpoints: where they stop, when they count, what their conditions and messages may say."""

from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.breakpoints import stable_id
from fxdap.engine.conditions import ConditionError, HitCondition, LogMessage, check_condition
from sample_models import nested
from tests.engine.driver import Driver
from tests.engine.graphs import calling, chain

X = torch.zeros(2)
RUNS = pytest.mark.parametrize("runs_before", [0, 1, 2])


def run(module: fx.GraphModule, driver: Driver, times: int = 1, *inputs: Any) -> Any:
    result = None
    with driver:
        for _ in range(times):
            result = module(*(inputs or (X,)))
    return result


@RUNS
def test_a_breakpoint_stops_before_its_node_in_every_run(runs_before):
    module = chain(40)
    with Driver() as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("n35")
        module(X)
        module(X)
    assert driver.places == ["%n35", "%n35"]
    assert driver.reasons == ["function breakpoint"] * 2
    assert driver.stops[0].ids == (1,)


@RUNS
def test_an_after_breakpoint_stops_with_the_nodes_value_at_hand(runs_before):
    seen = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        seen.append(float(thread.top.value(thread.top.position)[0]))

    module = chain(40)
    with Driver(at_stop=look) as driver:
        for _ in range(runs_before):
            module(X)
        for name in ("x", "n0", "n31", "n39", "output"):
            driver.break_on(f"after:{name}")
        module(X)
    assert driver.places == [f"after %{n}" for n in ("x", "n0", "n31", "n39", "output")]
    assert seen == [0.0, 1.0, 32.0, 40.0, 40.0]


def test_after_a_node_and_before_the_next_are_two_stops_and_steps_go_on_from_each():
    driver = Driver("over over go")
    driver.break_on("after:n0")
    driver.break_on("n1")
    run(chain(), driver)
    assert driver.places == ["after %n0", "%n1", "%n2"]


def test_a_step_from_after_the_output_goes_to_the_next_graph():
    driver = Driver("over go go")
    driver.break_on("after:output", hit="1")
    run(chain(), driver, 2)
    assert driver.places == ["after %output", "%x"]


def test_breakpoints_at_one_node_are_one_stop():
    driver = Driver()
    driver.break_on("n1")
    driver.break_on("target:torch.add", condition="node.name == 'n1'")
    run(chain(), driver)
    assert [(s.place, s.ids) for s in driver.stops] == [("%n1", (1, 2))]


@RUNS
def test_breakpoints_may_move_while_stopped(runs_before):
    def move(driver: Driver, thread: Any, stop: Any) -> None:
        place = driver.places[-1]
        driver.clear()
        if place == "%n1":
            driver.break_on("n36")
            driver.break_on("n0")

    module = chain(40)
    with Driver(at_stop=move) as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("n1")
        driver.break_on("n2")
        module(X)
        module(X)
    assert driver.places == ["%n1", "%n36"]


@RUNS
def test_breakpoints_may_move_while_the_graph_runs(runs_before):
    active = False

    def move(x: torch.Tensor) -> torch.Tensor:
        if active:
            driver.clear()
            driver.break_on("neg")
        return x

    module = calling(move)
    with Driver() as driver:
        for _ in range(runs_before):
            module(X)
        active = True
        driver.break_on("output")
        module(X)
    assert driver.places == ["%neg"]


def test_a_breakpoint_set_before_its_graph_exists_is_hit():
    driver = Driver()
    driver.break_on("n2")
    run(chain(), driver)
    assert driver.places == ["%n2"]


HITS = {
    "3": [3],
    "== 3": [3],
    "=3": [3],
    "> 4": [5, 6],
    ">= 5": [5, 6],
    "< 3": [1, 2],
    "<= 2": [1, 2],
    "% 2": [2, 4, 6],
    " %3 ": [3, 6],
}


@pytest.mark.parametrize("condition", HITS)
def test_a_hit_condition_chooses_the_hits_that_stop(condition):
    module, stopped = chain(), []
    with Driver() as driver:
        driver.break_on("n1", hit=condition)
        for number in range(1, 7):
            count = len(driver.stops)
            module(X)
            if len(driver.stops) > count:
                stopped.append(number)
    assert stopped == HITS[condition]


@pytest.mark.parametrize("text", ["", "x", "!= 3", "% 0", "-1", "3 4", "1.5"])
def test_a_hit_condition_that_is_not_understood_says_what_to_write(text):
    with pytest.raises(ConditionError, match="write a number"):
        HitCondition.parse(text)


def test_only_hits_whose_condition_holds_are_counted():
    module = chain()
    with Driver() as driver:
        driver.break_on("n1", condition="x.sum() > 0", hit="2")
        for value in (0, 1, 0, 1, 1):
            module(X + value)
            driver.logs.append(str(len(driver.stops)))
    assert driver.logs == ["0", "0", "0", "1", "1"]


def test_counts_go_on_when_other_breakpoints_of_the_group_change():
    module = chain()
    with Driver() as driver:
        first = driver.break_on("n1", hit="3")
        module(X)
        module(X)
        driver.break_on("n2", hit="100")
        module(X)
    assert first.hits == 3
    assert driver.places == ["%n1"]


CONDITIONS = {
    "n0[0] == 1": True,
    "n0[0] > 1": False,
    "env['n0'][0] == 1": True,
    "env[node.args[0]] is n0": True,
    "len(env) == 2": True,
    "args[0] is n0 and args[1] == 1 and kwargs == {}": True,
    "node.target is torch.add": True,
    "graph is node.graph and module.graph is graph": True,
    "(lambda: n0[0] == 1)()": True,
    "any(v == 1 for v in n0)": True,
    "all(n0[i] == 1 for i in range(len(n0)))": True,
    "[t.sum() for t in (x, n0)][1] == 2": True,
    "sorted([2, 1], key=lambda i: float(n0[0]) * i) == [1, 2]": True,
    "max(1, 2) == 2 and isinstance(n0, torch.Tensor)": True,
    "  n0.any()": True,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_python_over_node_names(condition):
    driver = Driver()
    driver.break_on("n1", condition=condition)
    run(chain(), driver)
    assert driver.places == (["%n1"] if CONDITIONS[condition] else [])
    assert all(stop.text == "" for stop in driver.stops)


@RUNS
@pytest.mark.parametrize("condition", ["n1[0] == 2", "env['n1'][0] == 2", "env[node][0] == 2"])
def test_a_condition_that_reads_the_nodes_own_value_is_judged_after_it(runs_before, condition):
    module = chain()
    with Driver() as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("n1", condition=condition)
        module(X)
        module(X + 1)
    assert driver.places == ["after %n1"]


def test_one_condition_for_many_nodes_is_judged_after_only_the_one_it_names():
    driver = Driver()
    driver.break_on("n*", condition="n2.sum() > 0")
    run(chain(5), driver)
    assert driver.places[2:] == ["after %n2", "%n3", "%n4"]
    assert driver.places[:2] == ["%n0", "%n1"]
    assert "n2 has not run yet" in driver.stops[0].text


def test_a_condition_on_the_output_reads_what_is_returned():
    driver = Driver()
    driver.break_on("output", condition="output[0] == 4")
    run(chain(), driver)
    assert driver.places == ["after %output"]


RAISING = {
    "1 / 0": "condition '1 / 0' raised ZeroDivisionError: division by zero",
    "nope > 1": "condition 'nope > 1' raised NameError: name 'nope' is not defined",
    "n3.sum() > 0": "condition 'n3.sum() > 0' raised ValueUnavailableError: %n3 has not run yet",
    "n0 > 0": "raised RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
    "env['no']": "raised KeyError: \"no node 'no' in graph 'Chain'\"",
}


@pytest.mark.parametrize("condition", RAISING)
def test_a_condition_that_raises_stops_and_says_why(condition):
    driver = Driver()
    driver.break_on("n1", condition=condition)
    run(chain(), driver)
    assert driver.places == ["%n1"]
    assert RAISING[condition] in driver.stops[0].text


def test_a_condition_that_raises_stops_a_log_point_too():
    driver = Driver()
    driver.break_on("n1", condition="nope", log="never")
    run(chain(), driver)
    assert driver.places == ["%n1"]
    assert driver.logs == []


def test_a_condition_that_is_no_expression_is_refused():
    with pytest.raises(ConditionError, match="'x = 1' is not a Python expression"):
        check_condition("x = 1")


def test_evaluating_a_condition_leaves_values_and_grad_mode_alone():
    driver = Driver()
    driver.break_on("n1", condition="torch.is_grad_enabled()")
    with torch.no_grad():
        run(chain(), driver)
    assert driver.places == []


def test_names_of_a_nested_graph_hide_those_of_the_outer_ones():
    driver = Driver()
    driver.break_on(
        "add", condition="x.shape[-1] == 6 and (x is env['x']) and gate.shape == x.shape"
    )
    driver.break_on("sigmoid", condition="linear.sum() is not None and norm", hit="1")
    run(nested.model(), driver, 1, *nested.example_inputs())
    assert driver.places[0] == "%layer.gate/sigmoid"
    assert "norm has not run yet" in driver.stops[0].text
    assert driver.places[1:] == ["%layer/add"] * 2


def test_outer_names_are_seen_from_inside():
    driver = Driver()
    driver.break_on("sigmoid", condition="layer.sum() != 0", hit="2")
    run(nested.model(), driver, 1, *nested.example_inputs())
    first = "condition 'layer.sum() != 0' raised ValueUnavailableError: %layer has not run yet"
    assert driver.places == ["%layer.gate/sigmoid"]
    assert driver.stops[0].text in ("", first)


def test_a_node_may_be_called_like_a_builtin_or_a_special_name():
    graph = fx.Graph()
    x = graph.placeholder("x")
    sum_ = graph.create_node("call_function", torch.sum, (x,), name="sum")
    args = graph.create_node("call_function", torch.neg, (sum_,), name="args")
    graph.output(graph.create_node("call_function", torch.neg, (args,), name="last"))
    named = [node.name for node in graph.nodes][1:3]
    driver = Driver()
    driver.break_on("last", condition=f"{named[0]} == 0 and {named[1]} == 0")
    run(fx.GraphModule(nn.Module(), graph), driver)
    assert driver.places == ["%last"]


LOGS = {
    "plain": "plain",
    "{n0.shape}": "torch.Size([2])",
    "n0 is {n0.tolist()} and x {float(x.sum())}": "n0 is [1.0, 1.0] and x 0.0",
    r"\{n0\} {{n0}}": "{n0} {n0}",
    "{ {'a': int(n0[0])}['a'] }": "1",
    "{node.name} {'a' + 'b'}": "n1 ab",
    "{nope} goes on {1 + 1}": "<NameError: name 'nope' is not defined> goes on 2",
    "{1 / 0}": "<ZeroDivisionError: division by zero>",
    "{n2}": "<ValueUnavailableError: %n2 has not run yet>",
    "{[int(v) for v in n0][0]}": "1",
    "tab\\t and \u00fc": "tab\\t and \u00fc",
}


@pytest.mark.parametrize("message", LOGS)
def test_a_log_message_is_written_and_does_not_stop(message):
    driver = Driver()
    driver.break_on("n1", log=message)
    run(chain(), driver)
    assert driver.stops == []
    assert driver.logs == [LOGS[message]]


@pytest.mark.parametrize("message", ["{", "a } b", "{a", "{{a}", "{x +}", "{}"])
def test_a_log_message_with_a_bad_brace_or_expression_is_refused(message):
    with pytest.raises(ConditionError):
        LogMessage.parse(message)


def test_a_log_message_may_be_written_after_its_node():
    driver = Driver()
    driver.break_on("after:n1", log="{float(n1[0])}")
    run(chain(), driver, 2)
    assert driver.logs == ["2.0", "2.0"]


def test_a_log_message_that_reads_its_own_node_is_written_after_it():
    driver = Driver()
    driver.break_on("n1", log="{float(n1[0])}")
    run(chain(), driver, 2)
    assert driver.logs == ["2.0", "2.0"]


def test_a_log_message_heeds_condition_and_hit_condition():
    driver = Driver()
    driver.break_on("n1", condition="x[0] == 0", hit="% 2", log="hit")
    run(chain(), driver, 5)
    assert driver.logs == ["hit", "hit"]


def test_a_log_point_on_the_way_does_not_end_a_step_out():
    driver = Driver("out go", entry=True)
    driver.break_on("n1", log="{node.name}")
    run(chain(), driver, 2)
    assert driver.places == ["%x", "%x"]
    assert driver.logs == ["n1", "n1"]


def test_ids_come_from_what_a_breakpoint_says_and_are_distinct():
    taken: set[int] = set()
    first = stable_id("function", "relu", taken)
    assert stable_id("function", "relu", set()) == first
    assert stable_id("function", "relu", taken) == first + 1
    assert stable_id("source", "relu", taken) not in (first, first + 1)


class TwoModels:
    """One node name in two graphs."""

    def __init__(self) -> None:
        self.first, self.second = chain(), chain()


def test_a_selector_binds_in_every_graph_and_graph_terms_choose_one():
    two = TwoModels()
    for selector, expected in (("n1", 2), ("n1 graph:Chain_2", 1), ("n1 !graph:Chain", 1)):
        with Driver() as driver:
            driver.break_on(selector)
            two.first(X)
            two.second(X)
        assert len(driver.stops) == expected, selector
        assert driver.stops[-1].stack == ("Chain_2%n1",)
