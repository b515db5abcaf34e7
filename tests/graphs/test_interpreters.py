"""Runs of Interpreter and of users' subclasses: their own code runs, and every node can stop."""

import io
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from sample_models import nested, script
from tests.engine.driver import Driver, assert_same
from tests.engine.graphs import calling, chain

X = torch.zeros(2)


class Printing(fx.Interpreter):
    """Overrides what can be overridden and tells what ran."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        print("run")
        return super().run(*args, **kwargs)

    def run_node(self, n: fx.Node) -> Any:
        print("before", n.name)
        value = super().run_node(n)
        print("after", n.name)
        return value

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        print("call", target.__name__)
        return super().call_function(target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: fx.Node) -> Any:
        print("fetch", n.name)
        return super().fetch_args_kwargs_from_env(n)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().output(target, args, kwargs)


class Deeper(Printing):
    def run_node(self, n: fx.Node) -> Any:
        print("deeper", n.name)
        return super().run_node(n)


class Doubling(fx.Interpreter):
    """Changes every value, so that the value shown must be the one it returned."""

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        return value * 2 if n.op == "call_function" else value


class OwnLoop(fx.Interpreter):
    """A run of its own that never calls torch's."""

    def run(self, x: Any) -> Any:  # type: ignore[override]
        self.args_iter = iter((x,))
        self.env = {}
        for node in self.module.graph.nodes:  # type: ignore[union-attr]
            self.env[node] = self.run_node(node)
        return self.env[node]


class NoSuper(fx.Interpreter):
    """A run_node of its own that never calls torch's."""

    def run_node(self, n: fx.Node) -> Any:
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)


class ByMixin:
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)  # type: ignore[misc]
        return value + 1 if n.op == "call_function" else value


class Mixed(ByMixin, fx.Interpreter):
    pass


CLASSES = [fx.Interpreter, Printing, Deeper, Doubling, OwnLoop, NoSuper, Mixed]


def printed(work: Callable[[], Any]) -> tuple[Any, str]:
    text = io.StringIO()
    with redirect_stdout(text):
        result = work()
    return result, text.getvalue()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("collect", [True, False])
def test_an_interpreter_prints_returns_and_keeps_what_it_does_without_a_debugger(cls, collect):
    module = chain(3)
    plain = cls(module, garbage_collect_values=collect)
    expected = printed(lambda: plain.run(X))
    debugged = cls(module, garbage_collect_values=collect)
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        found = printed(lambda: debugged.run(X))
    assert found[1] == expected[1]
    assert_same(found[0], expected[0])
    assert [n.name for n in debugged.env] == [n.name for n in plain.env]
    assert_same(list(debugged.env.values()), list(plain.env.values()))
    assert sorted(debugged.__dict__) == sorted(plain.__dict__)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_every_node_of_an_interpreter_can_be_stepped(cls):
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        printed(lambda: cls(chain(3)).run(X))
    assert driver.places == ["%x", "%n0", "%n1", "%n2", "%output"]


@pytest.mark.parametrize("cls", [*CLASSES, script.Profile], ids=lambda c: c.__name__)
def test_breakpoints_stop_an_interpreter_before_and_after_nodes(cls):
    driver = Driver("over go")
    driver.break_on("after:n1")
    driver.break_on("after:output")
    with driver:
        printed(lambda: cls(chain(3)).run(X))
    assert driver.places == ["after %n1", "%n2", "after %output"]


def test_the_value_shown_is_the_one_the_users_run_node_returned():
    seen = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.top
        seen.append(float(frame.value(frame.program.by_name["n0"])[0]))
        assert isinstance(frame.interpreter, Doubling)

    driver = Driver(at_stop=look)
    driver.break_on("n1", condition="type(self).__name__ == 'Doubling' and n0[0] == 2")
    with driver:
        Doubling(chain(3)).run(X)
    assert seen == [2.0]


def test_an_interpreter_made_before_the_session_is_debugged():
    interpreter = Printing(chain(3))
    driver = Driver()
    driver.break_on("n1")
    with driver:
        printed(lambda: interpreter.run(X))
    assert driver.places == ["%n1"]
    assert "run_node" in Printing.__dict__
    assert not hasattr(Printing.run_node, "__wrapped__")


def test_a_class_made_during_the_session_is_debugged_and_restored():
    driver = Driver()
    driver.break_on("n1")
    with driver:

        class Late(fx.Interpreter):
            def run_node(self, n: fx.Node) -> Any:
                return super().run_node(n)

        original = Late.__dict__["run_node"]
        Late(chain(3)).run(X)
    assert driver.places == ["%n1"]
    assert Late.__dict__["run_node"] is original


def test_a_method_that_the_user_replaced_during_the_session_stays():
    class Patched(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            return super().run_node(n)

    def other(self: Any, n: fx.Node) -> Any:
        return fx.Interpreter.run_node(self, n)

    with Driver():
        Patched(chain(3)).run(X)
        Patched.run_node = other  # type: ignore[method-assign]
    assert Patched.__dict__["run_node"] is other


def _env_of(module: fx.GraphModule, **values: Any) -> dict[fx.Node, Any]:
    return {node: values[node.name] for node in module.graph.nodes if node.name in values}


@pytest.mark.parametrize("collect", [True, False])
def test_nodes_of_an_initial_env_are_skipped_and_their_values_shown(collect):
    module, seen = chain(4), []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.top
        seen.append([float(frame.value(frame.program.by_name[n])[0]) for n in ("x", "n0", "n1")])

    driver = Driver("over over go", at_stop=look)
    with driver:
        driver.debugger.entry_pending = True
        env = _env_of(module, x=X + 10, n0=X + 20, n1=X + 30)
        result = fx.Interpreter(module, garbage_collect_values=collect).run(initial_env=env)
    assert torch.equal(result, X + 32)
    assert driver.places == ["%n2", "%n3", "%output"]
    assert seen[0] == [10.0, 20.0, 30.0]


def test_a_step_over_skipped_nodes_lands_on_the_next_that_runs():
    module = chain(5)
    driver = Driver("over go")
    driver.break_on("n1")
    driver.break_on("after:n1")
    with driver:
        env = _env_of(module, n2=X + 7)
        result = fx.Interpreter(module, garbage_collect_values=False).run(X, initial_env=env)
    assert torch.equal(result, X + 9)
    assert driver.places == ["%n1", "after %n1"]


def test_a_step_from_a_node_lands_after_the_skipped_ones():
    module = chain(5)
    driver = Driver("over over go")
    driver.break_on("n1")
    with driver:
        env = _env_of(module, n2=X + 7)
        fx.Interpreter(module, garbage_collect_values=False).run(X, initial_env=env)
    assert driver.places == ["%n1", "%n3", "%n4"]


def test_boxed_run_is_debugged_and_empties_its_list():
    module, boxed = chain(3), [X]
    driver = Driver()
    driver.break_on("n1", condition="x[0] == 0 and n0[0] == 1")
    with driver:
        result = fx.Interpreter(module).boxed_run(boxed)
    assert torch.equal(result, X + 3)
    assert boxed == []
    assert driver.places == ["%n1"]
    assert driver.stops[0].text == ""


def test_an_interpreter_inside_a_node_of_another_is_nested():
    inner = chain(2)

    def interpret(x: Any) -> Any:
        return fx.Interpreter(inner).run(x)

    outer = calling(interpret)
    driver = Driver("in over over over over go")
    driver.break_on("called")
    with driver:
        result = fx.Interpreter(outer).run(X)
    assert torch.equal(result, -X - 2)
    assert driver.places == ["%called", "%x", "%n0", "%n1", "%output", "%neg"]
    assert driver.stops[1].stack == ("Chain%x", "Calling%called")


def test_an_interpreter_steps_into_the_graph_modules_it_calls():
    driver = Driver("in in over over go")
    driver.break_on("layer")
    with driver:
        fx.Interpreter(nested.model()).run(*nested.example_inputs())
    assert driver.places[:3] == ["%layer", "%layer/x", "%layer/gate"]


def test_two_runs_of_one_interpreter_are_both_seen():
    class Twice(fx.Interpreter):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            super().run(*args, **kwargs)
            return super().run(*args, **kwargs)

    driver = Driver()
    driver.break_on("n1")
    with driver:
        result = Twice(chain(2)).run(X)
    assert torch.equal(result, X + 2)
    assert driver.places == ["%n1", "%n1"]


class Fails(fx.Interpreter):
    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if args[0].max() == 1:
            raise KeyError("mine", 7)
        return super().call_function(target, args, kwargs)


def _error_of(work: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any error is compared as it is
        work()
    return caught.value


@pytest.mark.parametrize("extra", [True, False])
def test_an_error_in_an_interpreter_is_as_without_us_and_stops_once(extra):
    module = chain(3)

    def run() -> Any:
        interpreter = Fails(module)
        interpreter.extra_traceback = extra
        return interpreter.run(X)

    plain = _error_of(run)
    with Driver() as driver:
        debugged = _error_of(run)
    assert type(debugged) is type(plain)
    assert debugged.args == plain.args
    assert driver.places == ["raised %n1"]
    assert driver.stops[0].text == "KeyError: ('mine', 7)"


def test_an_error_the_users_run_node_catches_does_not_stop():
    class Forgiving(Fails):
        def run_node(self, n: fx.Node) -> Any:
            try:
                return super().run_node(n)
            except KeyError:
                return torch.ones(2)

    with Driver() as driver:
        result = Forgiving(chain(3)).run(X)
    assert torch.equal(result, torch.ones(2))
    assert driver.stops == []


def test_interpreters_on_two_threads_do_not_mix():
    modules, results = [chain(40), chain(40)], {}
    meet = threading.Barrier(2, timeout=20)

    class Meeting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            if n.name == "n20":
                meet.wait()
            return super().run_node(n)

    def work(number: int) -> None:
        results[number] = Meeting(modules[number]).run(X + number)

    with Driver() as driver:
        driver.break_on("n30")
        users = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for user in users:
            user.start()
        for user in users:
            user.join()
    assert torch.equal(results[0], X + 40)
    assert torch.equal(results[1], X + 41)
    assert driver.places == ["%n30", "%n30"]


def test_torchs_own_passes_are_not_debugged_unless_asked_for():
    module = chain(2)
    for just_my_code, stops in ((True, 0), (False, 2)):
        with Driver(just_my_code=just_my_code) as driver:
            driver.break_on("n1")
            ShapeProp(module).propagate(X)
            fx.Transformer(module).transform()
        assert len(driver.stops) == stops


def test_a_transformer_gives_the_same_graph_while_it_is_stepped():
    module = chain(2)
    plain = fx.Transformer(module).transform()
    driver = Driver(just_my_code=False, entry=True)
    driver.forever = "over"
    with driver:
        stepped = fx.Transformer(module).transform()
    assert stepped.code == plain.code
    assert driver.places == ["%x", "%n0", "%n1", "%output"]


class Renamer(fx.Transformer):
    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().call_function(torch.sub, args, kwargs)


class Shapes(ShapeProp):
    def run_node(self, n: fx.Node) -> Any:
        return super().run_node(n)


def test_a_users_own_subclass_of_a_torch_pass_is_debugged():
    module = chain(2)
    with Driver() as driver:
        driver.break_on("n1")
        renamed = Renamer(module).transform()
        Shapes(module).propagate(X)
    assert driver.places == ["%n1", "%n1"]
    assert torch.equal(renamed(X), X - 2)


def test_a_graph_given_beside_its_module_is_run():
    module, other = chain(1), chain(3)
    with Driver() as driver:
        driver.break_on("n2")
        result = fx.Interpreter(module, graph=other.graph).run(X)
    assert torch.equal(result, X + 3)
    assert driver.places == ["%n2"]


def test_inputs_no_placeholder_takes_are_said_to_be_ignored():
    with Driver() as driver:
        fx.Interpreter(chain(1)).run(X, X, X)
    assert driver.notices == [
        "Interpreter.run was given 3 inputs, but the graph has 1 placeholder: "
        "the last 2 are ignored"
    ]


def test_a_graph_that_changed_between_runs_is_seen_as_it_is():
    module = chain(2)
    with Driver() as driver:
        driver.break_on("n1")
        fx.Interpreter(module).run(X)
        last = next(node for node in module.graph.nodes if node.name == "n1")
        last.args = (last.args[0], 5)
        assert torch.equal(fx.Interpreter(module).run(X), X + 6)
    assert driver.stops[0].stack == ("Chain%n1",)
    assert driver.stops[1].stack == ("Chain_2%n1",)


class Values(nn.Module):
    one: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("one", torch.ones(2))

    def forward(self, x: torch.Tensor) -> Any:
        return {"sum": x + self.one, "list": [x, (self.one,)]}


def test_an_exported_modules_interpreter_run_returns_its_containers():
    module = torch.export.export(Values(), (X,)).module()
    plain = fx.Interpreter(module).run(X)
    with Driver():
        for _ in range(2):
            assert_same(fx.Interpreter(module).run(X), plain)
    assert_same(plain, {"sum": X + 1, "list": [X, (torch.ones(2),)]})
