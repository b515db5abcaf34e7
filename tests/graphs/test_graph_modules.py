"""Calls of GraphModules: hooks, custom calls, and runs that only trace or compute shapes."""

import gc
import threading
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensorMode, dispatch_functionalize
from torch.fx._symbolic_trace import PH
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.graph import CodeGen
from torch.utils.checkpoint import checkpoint

from sample_models import nested
from tests.engine.driver import Driver, assert_same
from tests.engine.graphs import calling, chain

X = torch.zeros(2)
EVERY_RUN = pytest.mark.parametrize("runs_before", [0, 2])


def stepped(module: Any, *args: Any, **kwargs: Any) -> tuple[Any, Driver]:
    """Call a module three times, stepping through every node."""
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        for _ in range(3):
            result = module(*args, **kwargs)
    return result, driver


def everywhere() -> Driver:
    """A driver that would stop at any node."""
    driver = Driver(entry=True, just_my_code=False)
    driver.break_on("*")
    return driver


def test_forward_hooks_see_the_call_and_may_change_its_result():
    module, seen = chain(2), []
    module.register_forward_pre_hook(lambda m, args: (args[0] + 1,))

    def tenfold(_: nn.Module, args: Any, out: Any) -> Any:
        seen.append(args[0])
        return out * 10

    module.register_forward_hook(tenfold)
    plain = module(X)
    result, driver = stepped(module, X)
    assert_same(result, plain)
    assert len(seen) == 4
    assert driver.places == ["%x", "%n0", "%n1", "%output"] * 3
    assert "forward" not in module.__dict__


def test_pre_hooks_with_keyword_arguments_change_what_the_graph_gets():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    graph.output(graph.call_function(torch.sub, (x, y)))
    module = fx.GraphModule(nn.Module(), graph)

    def swap(_: nn.Module, args: Any, kwargs: Any) -> Any:
        return (), {"x": kwargs["y"], "y": kwargs["x"]}

    module.register_forward_pre_hook(swap, with_kwargs=True)
    result, driver = stepped(module, x=X, y=X + 3)
    assert torch.equal(result, X + 3)
    assert len(driver.stops) == 12


def test_hooks_that_always_run_do_so_when_a_node_raises():
    def fail(x: Any) -> Any:
        raise ValueError("no")

    module, ran = calling(fail), []
    module.register_forward_hook(lambda m, a, o: ran.append(o), always_call=True)
    with Driver() as driver, pytest.raises(ValueError, match="no"):
        module(X)
    assert driver.places == ["raised %called"]
    assert ran == [None]
    assert "forward" not in module.__dict__


def test_global_hooks_run_once_per_module_as_without_a_debugger():
    module, calls = nested.model(), []
    inputs = nested.example_inputs()
    handle = nn.modules.module.register_module_forward_hook(
        lambda m, a, o: calls.append(type(m).__name__)
    )
    try:
        plain = module(*inputs)
        expected = list(calls)
        calls.clear()
        with Driver() as driver:
            driver.break_on("sigmoid")
            result = module(*inputs)
    finally:
        handle.remove()
    assert_same(result, plain)
    assert calls == expected
    assert driver.places == ["%layer.gate/sigmoid"] * 2


def test_backward_hooks_run():
    module = chain(2)
    grads: list[Any] = []
    module.register_full_backward_hook(lambda m, gi, go: grads.append(go))
    x = torch.ones(2, requires_grad=True)
    with Driver() as driver:
        driver.break_on("n1")
        module(x).sum().backward()
    assert driver.places == ["%n1"]
    (gradient,) = grads[0]
    assert torch.equal(gradient, torch.ones(2))


class Own(fx.GraphModule):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ("own", super().__call__(*args, **kwargs))


def test_a_call_of_the_users_own_runs_and_the_graph_in_it_is_debugged():
    module = Own(nn.Module(), chain(2).graph)
    result, driver = stepped(module, X)
    assert result[0] == "own"
    assert torch.equal(result[1], X + 2)
    assert driver.places == ["%x", "%n0", "%n1", "%output"] * 3


def test_a_forward_that_the_user_put_on_the_module_runs_instead_of_the_graph():
    module = chain(2)
    module.forward = lambda x: x * 7
    with everywhere() as driver:
        assert torch.equal(module(X + 1), X + 7)
    assert driver.stops == []
    assert "forward" in module.__dict__


def test_a_forward_that_the_user_put_on_the_class_runs_instead_of_the_graph():
    module = chain(2)
    type(module).forward = lambda self, x: x * 7
    with everywhere() as driver:
        for _ in range(3):
            assert torch.equal(module(X + 1), X + 7)
    assert driver.stops == []


def test_a_compiled_module_is_left_to_its_compiler():
    module, compiled = chain(2), []

    def backend(graph: fx.GraphModule, inputs: Any) -> Any:
        compiled.append(graph)
        return graph.forward

    module.compile(backend=backend)
    with everywhere() as driver:
        assert torch.equal(module(X), X + 2)
    assert driver.stops == []
    assert len(compiled) == 1


def test_torch_compile_of_a_graph_module_never_stops():
    module = chain(2)
    with everywhere() as driver:
        compiled = torch.compile(module, backend="eager", fullgraph=True)
        assert torch.equal(compiled(X), X + 2)
        assert torch.equal(compiled(X), X + 2)
    assert driver.stops == []


def test_torch_compile_of_a_function_that_calls_graphs_never_stops():
    module = chain(2)

    def function(x: torch.Tensor) -> Any:
        return module(x) + fx.Interpreter(module).run(x)

    plain = torch.compile(function, backend="eager")(X)
    torch._dynamo.reset()
    with everywhere() as driver:
        compiled = torch.compile(module, backend="eager", fullgraph=True)
        assert torch.equal(compiled(X), X + 2)
    torch._dynamo.reset()
    assert torch.equal(plain, X + 4)
    assert driver.stops == []


class Around(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = chain(2)

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner(x) * 2


@pytest.mark.parametrize("strict", [True, False])
def test_exporting_a_module_that_holds_a_graph_never_stops(strict):
    module = Around()
    plain = torch.export.export(module, (X,), strict=strict)
    with everywhere() as driver:
        program = torch.export.export(module, (X,), strict=strict)
    assert driver.stops == []
    assert program.graph_module.code == plain.graph_module.code


def test_tracing_a_module_that_holds_a_graph_never_stops():
    module = Around()
    plain = fx.symbolic_trace(module)
    with everywhere() as driver:
        traced = fx.symbolic_trace(module)
    assert driver.stops == []
    assert traced.code == plain.code


def test_tracing_a_graph_that_gets_its_proxies_in_a_container_never_stops():
    graph = fx.Graph()
    pair = graph.placeholder("pair")
    graph.output(graph.call_function(torch.add, (graph.call_method("pop", (pair,)), 1)))
    inner = fx.GraphModule(nn.Module(), graph)

    class Boxes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> Any:
            return self.inner([x, x])

    plain = fx.symbolic_trace(Boxes())
    with everywhere() as driver:
        traced = fx.symbolic_trace(Boxes())
    assert driver.stops == []
    assert traced.code == plain.code


def test_make_fx_of_a_graph_never_stops():
    module = chain(2)
    for mode in ("real", "fake", "symbolic"):
        plain = make_fx(module, tracing_mode=mode)(X)
        with everywhere() as driver:
            traced = make_fx(module, tracing_mode=mode)(X)
        assert driver.stops == []
        assert traced.code == plain.code


def test_shapes_under_a_fake_mode_never_stop():
    module = chain(2)
    mode = FakeTensorMode()
    fake = mode.from_tensor(X)
    with everywhere() as driver:
        with mode:
            assert module(fake).shape == (2,)
        assert module(fake).shape == (2,)
        assert module(x=fake).shape == (2,)
        assert fx.Interpreter(module).run(fake).shape == (2,)
    assert driver.stops == []


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace")
def test_jit_tracing_a_graph_never_stops():
    module = chain(2)
    with everywhere() as driver:
        traced = torch.jit.trace(module, (X,), check_trace=False)
    assert driver.stops == []
    assert torch.equal(traced(X), X + 2)


def test_vmap_and_grad_over_a_graph_stop_and_give_the_same():
    module = chain(2)
    batch = torch.zeros(3, 2)
    with Driver() as driver:
        driver.break_on("n1")
        assert torch.equal(torch.vmap(module)(batch), batch + 2)
        gradient = torch.func.grad(lambda x: module(x).sum())(X)
    assert torch.equal(gradient, torch.ones(2))
    assert driver.places == ["%n1", "%n1"]


def test_checkpointing_a_graph_stops_in_its_forward_and_when_it_is_computed_again():
    module = chain(2)
    x = torch.ones(2, requires_grad=True)
    with Driver() as driver:
        driver.break_on("n1")
        checkpoint(module, x, use_reentrant=False).sum().backward()
    assert driver.places == ["%n1"] * len(driver.places)
    assert driver.places
    assert torch.equal(x.grad, torch.ones(2))  # type: ignore[arg-type]


def test_functional_call_of_a_graph_stops():
    module = chain(2)
    with Driver() as driver:
        driver.break_on("n1")
        assert torch.equal(torch.func.functional_call(module, {}, (X,)), X + 2)
    assert driver.places == ["%n1"]


def test_a_graph_inside_a_plain_module_of_torch_counts_as_the_users():
    module = nn.Sequential(nn.Identity(), chain(2))
    with Driver() as driver:
        driver.break_on("n1")
        module(X)
    assert driver.places == ["%n1"]


def test_a_recompiled_module_runs_its_new_graph():
    module = chain(2)
    with Driver() as driver:
        driver.break_on("n1")
        for _ in range(3):
            assert torch.equal(module(X), X + 2)
        last = next(node for node in module.graph.nodes if node.name == "n1")
        last.args = (last.args[0], 5)
        module.recompile()
        for _ in range(3):
            assert torch.equal(module(X), X + 6)
    assert [s.stack for s in driver.stops] == [("Chain%n1",)] * 3 + [("Chain_2%n1",)] * 3


def test_a_graph_edited_without_recompile_runs_the_code_it_had():
    for runs_before in range(3):
        module = chain(2)
        with Driver():
            for _ in range(runs_before):
                module(X)
            last = next(node for node in module.graph.nodes if node.name == "n1")
            last.args = (last.args[0], 5)
            for _ in range(3):
                assert torch.equal(module(X), X + 2), runs_before


def test_a_graph_edited_before_the_session_without_recompile_says_so():
    module = chain(2)
    last = next(node for node in module.graph.nodes if node.name == "n1")
    last.replace_all_uses_with(last.args[0])
    module.graph.erase_node(last)
    with Driver() as driver:
        assert torch.equal(module(X), X + 2)
    assert "call recompile() after edits" in driver.notices[0]


@pytest.mark.parametrize("place", [0, 1])
def test_an_argument_edited_in_a_large_graph_without_recompile_says_so(place):
    module = chain(1100)
    with Driver() as driver:
        assert torch.equal(module(X), X + 1100)
    assert driver.notices == []
    x, *_, last = (node for node in module.graph.nodes if node.op != "output")
    last.update_arg(place, (x, 5)[place])
    with Driver() as driver:
        assert torch.equal(module(X), X + 1100)
    assert "call recompile() after edits" in driver.notices[0]


def test_a_changed_calling_convention_is_followed_after_recompile():
    module = torch.export.export(Around(), (X,)).module()
    with Driver():
        assert torch.equal(module(X), X + 4)
        module.graph.set_codegen(CodeGen())
        module.recompile()
        plain = module.forward(X)
        assert_same(module(X), plain)


def test_the_memory_of_dropped_graphs_is_given_back():
    with Driver() as driver:
        for _ in range(300):
            chain(1)(X)
        assert len(driver.debugger.programs()) <= 256
        driver.added.clear()
        gc.collect()
        assert len(driver.runs._binders) <= 256


def test_a_lazily_compiled_graph_module_is_bound_by_its_real_signature():
    from torch.fx._lazy_graph_module import _LazyGraphModule

    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y", default_value=3)
    graph.output(graph.call_function(torch.add, (x, y)))
    module = _LazyGraphModule(nn.Module(), graph)
    with Driver() as driver:
        driver.break_on("add")
        assert torch.equal(module(X), X + 3)
        assert torch.equal(module(X, y=1), X + 1)
    assert driver.places == ["%add", "%add"]


def test_one_module_on_two_threads_with_hooks_gives_both_their_results():
    module, results = chain(2), {}
    meet = threading.Barrier(2, timeout=20)

    def wait(_: nn.Module, args: Any) -> None:
        meet.wait()

    module.register_forward_pre_hook(wait)

    def work(number: int) -> None:
        results[number] = module(X + number)

    with Driver():
        users = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for user in users:
            user.start()
        for user in users:
            user.join()
    assert torch.equal(results[0], X + 2)
    assert torch.equal(results[1], X + 3)
    assert "forward" not in module.__dict__


class Typed(nn.Module):
    def forward(self, pair: tuple[torch.Tensor, torch.Tensor], scale: float = 2.0) -> Any:
        a, b = pair
        return {"out": (a + b) * scale}


def test_pytree_inputs_of_traced_and_exported_graphs_are_unpacked():
    pair = (X + 1, X + 2)
    exported = torch.export.export(Typed(), (pair,), {"scale": 3.0}).module()
    holder = {"a": PH, "b": [PH]}

    class Boxed(nn.Module):
        def forward(self, boxed: Any, n: int) -> Any:
            return [boxed["a"] - boxed["b"][0]] * n

    traced = fx.symbolic_trace(Boxed(), concrete_args={"boxed": holder, "n": 2})
    for module, args, kwargs in (
        (exported, (pair,), {"scale": 3.0}),
        (traced, ({"a": X + 5, "b": [X]}, 2), {}),
    ):
        plain = module(*args, **kwargs)
        result, driver = stepped(module, *args, **kwargs)
        assert_same(result, plain)
        assert driver.places[-1] == "%output"


def test_functional_tensors_are_ghosts():
    graph = fx.symbolic_trace(nn.ReLU())
    with Driver(entry=True, just_my_code=False) as driver:
        dispatch_functionalize(graph, FunctionalTensorMode())(torch.ones(2))
        assert driver.stops == []
        graph(torch.ones(2))
    assert driver.reasons == ["entry"]
