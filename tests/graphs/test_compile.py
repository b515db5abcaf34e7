"""Graphs of torch.compile in one process: names, steps, threads, and how torch is left."""

import _thread
import functools
import threading
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.engine.thread import Abandoned
from fxdap.graphs.compile import backends
from fxdap.graphs.compile.frames import Titles, is_compiling
from fxdap.graphs.errors import TargetError
from fxdap.graphs.target import load_target
from fxdap.view.listing import build_listing
from tests.engine.driver import Driver, place_of
from tests.engine.graphs import chain


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.weight).sum()


def decorate(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(self: nn.Module, *args: Any) -> Any:
        return function(self, *args)

    return wrapper


class Decorated(nn.Module):
    @decorate
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2


LINE = Scale.forward.__code__.co_firstlineno + 1


@pytest.fixture(scope="module")
def scale():
    """A model and its compiled form, made while no debugger is attached."""
    model = Scale()
    compiled = torch.compile(model, backend="fxdap_aot")
    compiled(torch.ones(2)).backward()
    return model, compiled


@pytest.fixture
def step(scale):
    """One training step; the gradient."""
    model, compiled = scale

    def run() -> Any:
        model.zero_grad()
        compiled(torch.tensor([1.0, -1.0])).backward()
        return model.weight.grad

    return run


def test_graphs_that_were_compiled_before_are_debugged_forward_and_backward(step):
    driver = Driver(entry=True, script="over over over over over over")
    with driver:
        known = {program.name: program for program in driver.debugger.programs()}
        assert step().tolist() == [1.0, 0.0]
    assert {"Scale.forward", "Scale.backward"} <= set(known)
    names = [node.name for node in known["Scale.forward"].nodes]
    assert driver.places == [f"%{name}" for name in [*names, "primals_2"]][:7], names
    assert driver.reasons == ["entry"] + ["step"] * 6


def test_a_step_off_the_end_of_the_forward_lands_in_the_backward(step):
    driver = Driver(script="over")
    driver.break_on("graph:Scale.forward op:output")
    with driver:
        step()
    assert [stop.stack[-1] for stop in driver.stops] == [
        "Scale.forward%output",
        "Scale.backward%primals_2",
    ]


def test_a_line_stops_in_every_graph_that_has_nodes_of_it_and_counts_hits_over_steps(step):
    driver = Driver()
    driver.break_at(__file__, LINE)
    with driver:
        step()
    assert len(driver.places) == 2
    counted = Driver()
    counted.break_on("graph:Scale.backward target:aten.threshold_backward", hit="== 3")
    with counted:
        for _ in range(5):
            step()
    assert counted.places == ["%threshold_backward"]


def test_inputs_bear_the_users_names(step):
    with Driver() as driver:
        programs = {program.name: program for program in driver.debugger.programs()}
    forward = programs["Scale.forward"].listing.text
    assert "%primals_2: f32[2] = placeholder(x)" in forward
    assert "%primals_1: f32[2] = placeholder(weight)" in forward
    assert "= placeholder(gradient of output 0)" in programs["Scale.backward"].listing.text


def test_a_value_changed_in_the_forward_changes_the_gradient(step):
    def edit(_: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        frame.set_value(frame.program.by_name["primals_2"], torch.tensor([5.0, 5.0]))

    driver = Driver(at_stop=edit)
    driver.break_on("graph:Scale.forward target:aten.mul")
    with driver:
        assert step().tolist() == [5.0, 5.0]
    assert step().tolist() == [1.0, 0.0]


def test_a_run_abandoned_in_the_backward_unwinds_the_users_call(step):
    def leave(_: Driver, thread: Any, stop: Any) -> None:
        thread.abandon()

    driver = Driver(at_stop=leave)
    driver.break_on("graph:Scale.backward target:aten.threshold_backward")
    with driver, pytest.raises(Abandoned):
        step()
    assert step().tolist() == [1.0, 0.0]


def test_a_step_follows_the_work_to_a_thread_that_python_did_not_make_and_back(step):
    """As autograd's do for other devices."""
    stops: list[tuple[bool, str]] = []

    def note(_: Driver, thread: Any, stop: Any) -> None:
        stops.append((thread.is_native, place_of(thread.frames[-1])))

    driver = Driver(script="over go over", at_stop=note)
    driver.break_on("graph:Scale.backward op:output")
    with driver:
        step()
        done = threading.Event()

        def work() -> None:
            step()
            done.set()

        _thread.start_new_thread(work, ())
        assert done.wait(30)
        driver.clear()
        step()
    assert stops == [
        (False, "%output"),
        (True, "%primals_1"),
        (True, "%output"),
        (False, "%primals_1"),
    ]


def test_what_only_the_graph_reads_is_let_go_after_its_last_use(step):
    kept: list[str] = []

    def note(_: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        kept.extend(frame.program.nodes[index].name for index in frame.computed())

    driver = Driver(at_stop=note, keep_values=False)
    driver.break_on("graph:Scale.backward op:output")
    with driver:
        step()
        step()
    assert kept == ["mul_1"] * 2


def test_a_decorated_forward_bears_the_name_of_its_class_also_after_a_graph_break():
    driver = Driver()
    driver.break_on("op:output")
    with driver:
        torch.compile(Decorated(), backend=backends.dynamo)(torch.ones(2))
    graphs = [program.name for program in driver.added if program.name.startswith("Decorated")]
    assert graphs == ["Decorated", "Decorated-2"]
    [(text, file, line)] = driver.news
    assert text.startswith(f"torch.compile: the graph breaks at test_compile.py:{line} ")
    assert file == __file__


def test_titles_count_the_graphs_of_one_function():
    titles = Titles()
    made = [titles.next(name) for name in ("Net.forward", "step", "Net.forward", "Net.forward")]
    assert made == ["Net", "step", "Net-2", "Net-3"]


def test_the_launch_key_gives_every_torch_compile_our_graphs_and_is_undone():
    before = torch.compile
    driver = Driver()
    driver.break_on("graph:double* target:operator.mul")

    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    with driver:
        driver.runs.substitute_compile("dynamo")
        assert torch.compile is not before
        decorated = torch.compile(backend="eager", mode="reduce-overhead")(double)
        assert decorated(torch.ones(2)).tolist() == [2.0, 2.0]
        assert driver.places == ["%mul"]
    assert torch.compile is before
    assert driver.news[0][0].endswith("is debugged in Dynamo's graphs, not run by eager")
    assert decorated(torch.ones(2)).tolist() == [2.0, 2.0]
    assert decorated(torch.ones(3, 3)).shape == (3, 3)


def test_dynamo_forgets_the_substitute_and_a_disabled_compile_is_left_alone():
    from torch._dynamo.trace_rules import get_torch_obj_rule_map

    plain = torch.compile

    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    with Driver() as driver:
        driver.runs.substitute_compile("aot")
        assert torch.compile(double, disable=True) is double
        get_torch_obj_rule_map.cache_clear()
        substitute = torch.compile
        assert substitute in get_torch_obj_rule_map()
    assert driver.news == []
    assert substitute not in get_torch_obj_rule_map()
    assert plain in get_torch_obj_rule_map()


def test_whether_torch_compile_is_at_work_is_known_from_other_threads():
    asked: list[bool] = []
    ident = threading.get_ident()

    def backend(module: torch.fx.GraphModule, inputs: Any) -> Any:
        asker = threading.Thread(target=lambda: asked.append(is_compiling(ident)))
        asker.start()
        asker.join()
        return module.forward

    torch.compile(lambda x: x + 3, backend=backend)(torch.ones(2))
    assert asked == [True]
    assert not is_compiling(ident)


class Held:
    """Lets a thread reach a point and waits there for `go`."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go = threading.Event()

    def __call__(self, value: Any, *_: Any) -> Any:
        self.reached.set()
        assert self.go.wait(60)
        return value


def compiles(held: Held) -> None:
    torch.compile(torch.sin, backend=lambda module, inputs: held(module.forward))(torch.ones(2))


def traces(held: Held) -> None:
    fx.symbolic_trace(lambda x: held(x) + 1)


def exports(held: Held) -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(held(x))

    torch.export.export(Model(), (torch.ones(2),))


@pytest.mark.parametrize("work", [compiles, traces, exports])
def test_a_graph_stops_while_another_thread_is_at_work_on_its_own(work):
    held = Held()
    other = threading.Thread(target=work, args=(held,))
    other.start()
    assert held.reached.wait(60)
    try:
        with Driver("over over", entry=True) as driver:
            assert torch.equal(fx.Interpreter(chain(1)).run(torch.zeros(2)), torch.ones(2))
    finally:
        held.go.set()
        other.join()
    assert driver.places == ["%x", "%n0", "%output"]


def test_backends_work_without_a_debugger_and_ignore_what_others_heed():
    compiled = torch.compile(torch.sin, backend=backends.dynamo)
    assert torch.equal(compiled(torch.ones(2)), torch.sin(torch.ones(2)))
    tuned = torch.compile(torch.cos, backend="fxdap", mode="max-autotune")
    assert torch.equal(tuned(torch.ones(2)), torch.cos(torch.ones(2)))


MODELS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(2, 2)

    def forward(self, x, *, scale=1.0):
        return {"y": torch.relu(self.fc(x)) * scale}

class Broken(nn.Module):
    def forward(self, x):
        y = x + 1
        print(y.shape)
        return y * 2

example_inputs = ((torch.ones(3, 2),), {"scale": 2.0})
broken_inputs = (torch.ones(3, 2),)
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    (tmp_path / "compiled_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)


def test_a_graph_is_captured_by_dynamo_or_with_its_backward_by_aot(models):
    dynamo = load_target("compiled_models.py:Net", capture="dynamo")
    assert list(dynamo.graphs) == ["compiled_models.Net"]
    text = build_listing(dynamo.module).text
    assert "placeholder(fc.weight)" in text
    assert "torch.nn.functional.linear" in text
    aot = load_target("compiled_models.py:Net", capture="aot")
    assert list(aot.graphs) == ["compiled_models.Net.forward", "compiled_models.Net.backward"]
    assert torch.equal(dynamo.run(), aot.run())
    driver = Driver()
    driver.break_on("target:aten.threshold_backward")
    with driver:
        aot.run()
    assert driver.places == ["%threshold_backward"]


def test_a_model_that_is_no_single_graph_is_refused_with_the_reason(models):
    with pytest.raises(TargetError) as refused:
        load_target(
            "compiled_models.py:Broken", "compiled_models.py:broken_inputs", capture="dynamo"
        )
    assert "the model is no single graph: Failed to trace builtin operator" in str(refused.value)
    assert "Debug a script that runs it, with `compile`: 'dynamo'" in str(refused.value)


@torch._dynamo.config.patch(compiled_autograd=True)
def test_with_compiled_autograd_the_whole_backward_is_one_graph():
    model, x = Scale(), torch.tensor([1.0, -1.0])

    def train(x: torch.Tensor) -> None:
        model(x).backward()

    def gradient(backend: str) -> Any:
        torch._dynamo.reset()
        model.zero_grad()
        torch.compile(train, backend=backend)(x)
        return model.weight.grad

    plain = gradient("aot_eager")
    with Driver() as driver:
        driver.break_on("after:op:output")
        assert torch.equal(gradient("fxdap_aot"), plain)
    graphs = [stop.stack[0].partition("%")[0] for stop in driver.stops]
    forward, backward = graphs
    assert forward.endswith("train.forward")
    assert backward.startswith("CompiledAutograd")
