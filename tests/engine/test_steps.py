"""Where steps, pauses and the entry stop land."""

import threading
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.plan import next_graph
from fxdap.engine.thread import Abandoned
from sample_models import gpt, nested
from tests.engine.driver import Driver, names
from tests.engine.graphs import calling, chain

X = torch.zeros(2)


@pytest.fixture(scope="module")
def twice() -> fx.GraphModule:
    """Calls `layer` twice, which calls `gate` once: three graphs deep."""
    return nested.model()


def test_the_first_graph_stops_on_entry_and_only_the_first():
    module = chain()
    with Driver(entry=True) as driver:
        module(X)
        module(X)
    assert [(s.reason, s.place) for s in driver.stops] == [("entry", "%x")]


def test_without_stop_on_entry_nothing_stops():
    with Driver() as driver:
        chain()(X)
    assert driver.stops == []


def test_steps_over_visit_every_node_once_and_then_the_next_graph_of_the_script():
    module = chain(2)
    with Driver("over " * 5, entry=True) as driver:
        module(X)
        module(X)
    assert driver.places == ["%x", "%n0", "%n1", "%output", "%x", "%n0"]
    assert driver.reasons == ["entry"] + ["step"] * 5


def test_a_step_off_the_last_graph_ends_the_program():
    module = chain(1)
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        result = module(X)
    assert driver.places == ["%x", "%n0", "%output"]
    assert torch.equal(result, X + 1)


@pytest.mark.parametrize("runs_before", [0, 1, 2])
@pytest.mark.parametrize("step", ["over", "in"])
def test_a_step_from_a_breakpoint_lands_on_the_next_node(runs_before, step):
    module = chain(70)
    with Driver(f"{step} {step} go") as driver:
        for _ in range(runs_before):
            module(X)
        driver.break_on("n40")
        module(X)
    assert driver.places == ["%n40", "%n41", "%n42"]


@pytest.mark.parametrize("node", ["n29", "n30", "n31", "n61", "n62"])
def test_steps_cross_the_borders_of_compiled_segments(node):
    module = chain(70)
    number = int(node[1:])
    with Driver("over over go") as driver:
        module(X)
        module(X)
        driver.break_on(node)
        module(X)
    assert driver.places == [f"%n{number + i}" for i in range(3)]


def test_a_step_out_of_a_flat_graph_goes_to_the_next_graph():
    module = chain()
    with Driver("over out", entry=True) as driver:
        module(X)
        module(X)
    assert driver.places == ["%x", "%n0", "%x"]


@pytest.mark.parametrize("runs_before", [0, 1, 2])
def test_a_step_in_enters_a_nested_graph_and_a_step_over_runs_it(twice, runs_before):
    inputs = nested.example_inputs()
    with Driver("over in over over go") as driver:
        for _ in range(runs_before):
            twice(*inputs)
        driver.debugger.entry_pending = True
        twice(*inputs)
    assert driver.places == ["%x", "%layer", "%layer/x", "%layer/gate", "%layer/add"]


@pytest.mark.parametrize("runs_before", [0, 1, 2])
def test_steps_through_nested_graphs_return_to_the_calling_node(twice, runs_before):
    inputs = nested.example_inputs()
    driver = Driver()
    with driver:
        for _ in range(runs_before):
            twice(*inputs)
        driver.debugger.entry_pending = True
        driver.forever = "in"
        twice(*inputs)
    gate = ["%layer.gate/" + n for n in ("x", "linear", "sigmoid", "mul", "output")]
    layer = ["%layer/x", "%layer/gate", *gate]
    layer += ["%layer/add", "%layer/norm", "%layer/output"]
    assert driver.places == ["%x", "%layer", *layer, "%layer_1", *layer, "%head", "%output"]


@pytest.mark.parametrize("runs_before", [0, 1, 2])
def test_the_stack_names_the_calling_nodes_of_a_breakpoint_inside(twice, runs_before):
    inputs = nested.example_inputs()
    with Driver() as driver:
        for _ in range(runs_before):
            twice(*inputs)
        driver.break_on("sigmoid")
        twice(*inputs)
    assert driver.places == ["%layer.gate/sigmoid"] * 2
    assert driver.stops[0].stack == ("Model%sigmoid", "Model%gate", "Model%layer")
    assert driver.stops[1].stack == ("Model%sigmoid", "Model%gate", "Model%layer_1")


def _break_once(driver: Driver, place: str) -> None:
    """Stop at the first arrival at a node from now on."""
    driver.break_on(place, hit="1")


@pytest.mark.parametrize("runs_before", [0, 1, 2])
@pytest.mark.parametrize("step", ["over", "in", "out"])
def test_a_step_off_the_end_of_a_nested_graph_lands_after_its_call(twice, runs_before, step):
    inputs = nested.example_inputs()
    with Driver(f"{step} go") as driver:
        for _ in range(runs_before):
            twice(*inputs)
        _break_once(driver, "after:mul")
        twice(*inputs)
    expected = {"over": "%layer.gate/output", "in": "%layer.gate/output", "out": "%layer/add"}
    assert driver.places == ["after %layer.gate/mul", expected[step]]


@pytest.mark.parametrize("runs_before", [0, 1, 2])
def test_steps_out_climb_one_graph_at_a_time_and_the_second_call_is_found(twice, runs_before):
    inputs = nested.example_inputs()
    with Driver("out out over go") as driver:
        for _ in range(runs_before):
            twice(*inputs)
        driver.break_on("sigmoid", hit="2")
        twice(*inputs)
    assert driver.places == ["%layer.gate/sigmoid", "%layer/add", "%head", "%output"]


@pytest.mark.parametrize("runs_before", [0, 1, 2])
def test_a_breakpoint_inside_is_hit_during_a_step_over_which_then_is_over(twice, runs_before):
    inputs = nested.example_inputs()
    with Driver("over over go go", entry=True) as driver:
        driver.debugger.entry_pending = False
        for _ in range(runs_before):
            twice(*inputs)
        driver.debugger.entry_pending = True
        _break_once(driver, "sigmoid")
        twice(*inputs)
    assert driver.places == ["%x", "%layer", "%layer.gate/sigmoid"]
    assert driver.reasons == ["entry", "step", "function breakpoint"]


def test_a_graph_that_two_others_share_is_shown_where_it_is_called_from(twice):
    inputs = nested.example_inputs()
    other = nested.trace(nn.Sequential(twice.layer, nn.ReLU()))
    with Driver() as driver:
        driver.break_on("norm")
        for module in (twice.layer, twice, other, twice, twice.layer):
            module(*inputs)
    inside = ["%layer/norm", "%layer/norm"]
    assert driver.places == ["%norm", *inside, "%0/norm", *inside, "%norm"]


def test_a_step_in_at_a_node_without_a_graph_is_a_step_over(twice):
    with Driver("in go") as driver:
        driver.break_on("head")
        twice(*nested.example_inputs())
    assert driver.places == ["%head", "%output"]


@pytest.fixture(scope="module")
def exported() -> tuple[fx.GraphModule, tuple[torch.Tensor]]:
    model = gpt.GPT(gpt.GPTConfig(blocks=2, width=8, heads=2, context=4))
    inputs = (torch.arange(4).unsqueeze(0),)
    with torch.no_grad():
        return torch.export.export(model, inputs).module(), inputs


def test_a_step_out_of_a_flat_export_ends_the_innermost_module(exported):
    module, inputs = exported
    with Driver("out out out go") as driver:
        driver.break_on("module:blocks.0.attn.qkv")
        driver.forever = None
        module(*inputs)
        program = driver.debugger.programs()[0]
    scopes = [
        [s.path for s in program.scopes(program.by_name[name])] for name in names(driver.stops)
    ]
    assert scopes[0] == ["blocks.0", "blocks.0.attn", "blocks.0.attn.qkv"]
    assert scopes[1] == ["blocks.0", "blocks.0.attn"]
    assert scopes[2] == ["blocks.0"]
    assert scopes[3] == ["blocks.1", "blocks.1.ln1"]


class Same(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.act = Act()

    def forward(self, x: torch.Tensor) -> Any:
        return self.act(self.act(x)) + 1


class Act(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.tanh(torch.relu(x))


def test_a_step_out_of_one_call_of_a_module_stops_at_its_next_call():
    module = torch.export.export(Same(), (X,)).module()
    with Driver("out out go") as driver:
        driver.break_on("relu")
        module(X)
    assert driver.places == ["%relu", "%relu_1", "%add"]


def test_a_step_out_from_a_leaf_module_ends_the_module_around_it():
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> Any:
            return self.fc2(torch.relu(self.fc1(x)))

    module = fx.symbolic_trace(nn.Sequential(Block(), nn.ReLU()))
    with Driver("out go") as driver:
        driver.break_on("_0_fc1")
        module(X)
    assert driver.places == ["%_0_fc1", "%_1"]


@pytest.mark.parametrize("runs_before", [0, 1, 2])
def test_a_pause_from_another_thread_stops_a_running_graph(runs_before):
    arrived, paused = threading.Event(), threading.Event()
    waiting = threading.local()

    def wait(x: torch.Tensor) -> torch.Tensor:
        if getattr(waiting, "on", False):
            arrived.set()
            assert paused.wait(10)
        return x

    module = calling(wait)
    with Driver("over go") as driver:
        for _ in range(runs_before):
            module(X)
        waiting.on = True
        user = driver.debugger.current_thread()

        def pause() -> None:
            assert arrived.wait(10)
            user.pause()
            paused.set()

        pauser = threading.Thread(target=pause)
        pauser.start()
        module(X)
        pauser.join()
        waiting.on = False
        module(X)
    assert [(s.reason, s.place) for s in driver.stops] == [("pause", "%neg"), ("step", "%output")]


def test_a_pause_between_graphs_stops_at_the_next_graph():
    module = chain()
    with Driver() as driver:
        module(X)
        driver.debugger.current_thread().pause()
        module(X)
        module(X)
    assert [(s.reason, s.place) for s in driver.stops] == [("pause", "%x")]


def test_a_pause_in_a_nested_graph_leaves_no_trace_in_the_outer_ones(twice):
    def pause_once(driver: Driver, thread: Any, stop: Any) -> None:
        if stop.reason == "function breakpoint":
            thread.pause()

    with Driver(at_stop=pause_once) as driver:
        _break_once(driver, "sigmoid")
        twice(*nested.example_inputs())
    assert driver.reasons == ["function breakpoint", "pause"]
    assert driver.places == ["%layer.gate/sigmoid", "%layer.gate/mul"]


def test_threads_stop_and_step_one_by_one():
    module = chain()
    with Driver("over go over go") as driver:
        driver.break_on("n1")
        for _ in range(2):
            user = threading.Thread(target=module, args=(X,))
            user.start()
            user.join()
    assert driver.places == ["%n1", "%n2"] * 2
    assert len({thread.id for thread in driver.started}) == 2


def test_an_abandoned_run_unwinds_at_its_next_node_and_no_filter_stops_it():
    module, ran = chain(), []

    def give_up(driver: Driver, thread: Any, stop: Any) -> None:
        ran.append(thread.top.position)
        thread.abandon()

    with Driver(at_stop=give_up) as driver:
        driver.break_on("n1")
        driver.break_on("n2")
        with pytest.raises(Abandoned):
            module(X)
    assert driver.places == ["%n1"]


def test_a_session_that_ends_lets_a_stopped_thread_run_to_its_end():
    module = chain()

    def end(driver: Driver, thread: Any, stop: Any) -> None:
        driver.debugger.end()

    with Driver(at_stop=end) as driver:
        driver.break_on("n1")
        driver.break_on("n2")
        assert torch.equal(module(X), X + 4)
    assert driver.places == ["%n1"]


def test_a_plan_for_the_next_graph_stops_at_its_first_node():
    module = chain()
    with Driver() as driver:
        module(X)
        driver.debugger.current_thread().plan = next_graph()
        module(X)
    assert driver.places == ["%x"]


def test_a_step_over_a_node_that_raises_lands_where_the_caller_goes_on():
    def fails(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")

    def rescue(x: Any) -> Any:
        try:
            return inner(x)
        except ValueError:
            return x

    inner, module = calling(fails, "bad"), calling(rescue)
    with Driver("over go") as driver:
        driver.debugger.exceptions.enabled = frozenset()
        driver.break_on("bad")
        for _ in range(3):
            module(X)
    assert driver.places == ["%bad", "%neg", "%bad", "%bad"]


def test_a_graph_that_calls_itself_keeps_its_runs_apart():
    def again(x: Any) -> Any:
        return module(x - 1) if x.max() > 0 else x

    module = calling(again)
    with Driver("over over over go") as driver:
        for _ in range(2):
            module(X + 1)
        driver.break_on("neg", hit="1")
        result = module(X + 2)
    assert torch.equal(result, X)
    assert driver.places == ["%neg", "%output", "%neg", "%output"]
