"""What the user is told about a run that would otherwise surprise them silently."""

import operator

import torch
from torch import fx

from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from tests.engine.driver import Driver


def traced() -> fx.GraphModule:
    def double_relu(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * 2

    return fx.symbolic_trace(double_relu)


def test_a_graph_edited_without_recompile_runs_as_forward_does_and_says_so() -> None:
    module = traced()
    output = next(n for n in module.graph.nodes if n.op == "output")
    with module.graph.inserting_before(output):
        added = module.graph.call_function(operator.add, (output.args[0], 100))
    output.args = (added,)
    x = torch.tensor([-1.0, 3.0])
    with Driver(entry=True) as driver:
        result = module(x)
    assert result.tolist() == [0.0, 6.0]
    assert driver.stops == []
    assert len(driver.notices) == 1
    assert "call recompile() after edits" in driver.notices[0]


def test_a_recompiled_graph_is_debugged_again() -> None:
    module = traced()
    output = next(n for n in module.graph.nodes if n.op == "output")
    x = torch.tensor([3.0])
    with Driver(entry=True) as driver:
        with module.graph.inserting_before(output):
            added = module.graph.call_function(operator.iadd, (output.args[0], 100))
        output.args = (added,)
        module(x)
        module.recompile()
        result = module(x)
    assert result.tolist() == [106.0]
    assert driver.places == ["%x"]
    assert len(driver.notices) == 1


def test_inputs_that_an_interpreter_ignores_are_named() -> None:
    with Driver() as driver:
        fx.Interpreter(traced()).run(torch.ones(2), torch.ones(3), 7)
    assert driver.notices == [
        "Interpreter.run was given 3 inputs, but the graph has 1 placeholder: "
        "the last 2 are ignored"
    ]


def test_an_interpreters_values_are_let_go_as_generated_code_does() -> None:
    graph = fx.Graph()
    value = graph.placeholder("x")
    for _ in range(100):
        value = graph.call_function(torch.neg, (value,))
    graph.output(value)
    module = fx.GraphModule({}, graph)
    kept: list[int] = []

    def count(driver: Driver, thread: DebugThread, stop: Stop) -> None:
        assert thread.top is not None
        kept.append(len(list(thread.top.computed())))

    with Driver(at_stop=count, keep_values=False) as driver:
        driver.break_on("neg_99")
        fx.Interpreter(module).run(torch.ones(4))
    assert kept == [2]
