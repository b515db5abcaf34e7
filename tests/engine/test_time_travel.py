"""Going back in a run: reverse steps, restarts, jumps, and what cannot be undone."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from fxdap.engine.history import PastGoneError
from fxdap.engine.moves import go_to, restart, step_back
from fxdap.engine.plan import Plan, step_over
from fxdap.engine.retention import Retention
from fxdap.engine.reverse import reverse_continue
from fxdap.engine.stops import Stop
from fxdap.engine.thread import Abandoned, DebugThread
from fxdap.engine.travel import Travel
from fxdap.engine.undo import SavedTensor
from tests.engine.driver import Driver
from tests.engine.graphs import chain

Move = Callable[[DebugThread], "Travel | Plan | None"]


class Moves:
    """Answers stop after stop with the next of some moves, then lets the run end."""

    def __init__(self, *moves: Move) -> None:
        self._moves = list(moves)

    def __call__(self, driver: Driver, thread: DebugThread, stop: Stop) -> Travel | Plan | None:
        return self._moves.pop(0)(thread) if self._moves else None


def go(thread: DebugThread) -> None:
    return None


def over(thread: DebugThread) -> Plan:
    return step_over(thread.frames[-1])


def graph_of(build: Callable[[fx.Graph, fx.Node], Any], root: Any = None) -> fx.GraphModule:
    graph = fx.Graph()
    graph.output(build(graph, graph.placeholder("x")))
    return fx.GraphModule(root or nn.Module(), graph)


def test_back_over_pure_nodes_needs_no_recordings_and_forward_gives_the_same() -> None:
    with Driver(at_stop=Moves(step_back, step_back, over, over)) as driver:
        driver.break_on("n2")
        result = chain()(torch.zeros(()))
    assert driver.places == ["%n2", "%n1", "%n0", "%n1", "%n2"]
    assert result.item() == 4.0


def test_reverse_continue_walks_over_a_thousand_nodes_to_the_breakpoint() -> None:
    def with_another(thread: DebugThread) -> Travel:
        driver.break_on("n3", condition="n2 == 3")
        return reverse_continue(thread)

    with Driver(at_stop=Moves(with_another, reverse_continue, over)) as driver:
        driver.break_on("n900")
        chain(1000)(torch.zeros(()))
    assert driver.places == ["%n900", "%n3", "%x", "%n0", "%n3", "%n900"]


def test_a_failed_node_can_be_tried_again_after_its_input_was_mended() -> None:
    def mend(thread: DebugThread) -> None:
        thread.frames[-1].set_value(1, torch.ones(3))

    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        return g.call_function(torch.matmul, (x, g.call_function(torch.neg, (x,))))

    moves = Moves(step_back, mend)
    with Driver(at_stop=moves) as driver:
        driver.break_on("never")
        result = graph_of(build)(torch.ones(2, 3))
    assert driver.places == ["raised %matmul", "%matmul"]
    assert result.tolist() == [3.0, 3.0]


def test_gradients_are_those_of_a_run_that_never_went_back() -> None:
    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        scaled = g.call_function(torch.mul, (x, 2))
        left = g.call_method("narrow", (scaled, 0, 0, 2))
        g.call_method("mul_", (left, 3))
        g.call_function(F.relu, (scaled,), {"inplace": True})
        return g.call_function(torch.sum, (scaled,))

    moves = Moves(step_back, step_back, step_back, go)
    x = torch.linspace(1, 2, 4, requires_grad=True)
    with Driver(at_stop=moves) as driver:
        driver.break_on("sum_1")
        graph_of(build)(x).backward()
    assert driver.places == ["%sum_1", "%relu", "%mul_", "%narrow", "%sum_1"]
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 6.0, 2.0, 2.0]


def test_a_restart_restores_what_the_inputs_were() -> None:
    module = graph_of(lambda g, x: g.call_method("add_", (x, 1)))
    x = torch.zeros(2)
    moves = Moves(lambda t: restart(t, t.frames[0]), over, over, go)
    with Driver(at_stop=moves) as driver:
        driver.break_on("output")
        module(x)
    assert driver.reasons[:2] == ["function breakpoint", "restart"]
    assert x.tolist() == [1.0, 1.0]


def test_contexts_that_nodes_enter_and_leave_are_entered_and_left_again() -> None:
    modes: list[tuple[bool, bool]] = []

    def note(move: Move) -> Move:
        def noted(thread: DebugThread) -> Travel | Plan | None:
            modes.append((torch.is_autocast_enabled("cpu"), torch.is_grad_enabled()))
            return move(thread)

        return noted

    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        entered = g.call_function(
            torch.amp.autocast_mode._enter_autocast, ("cpu", torch.bfloat16, True, None)
        )
        g.call_function(torch._C._set_grad_enabled, (False,))
        product = g.call_function(torch.matmul, (x, x))
        g.call_function(torch._C._set_grad_enabled, (True,))
        g.call_function(torch.amp.autocast_mode._exit_autocast, (entered,))
        return product

    moves = Moves(*[note(step_back)] * 5, *[note(over)] * 5, note(go))
    with Driver(at_stop=moves) as driver:
        driver.break_on("output")
        result = graph_of(build)(torch.ones(2, 2))
    backwards = [(False, True), (True, True), (True, False), (True, False), (True, True)]
    assert modes == [*backwards, (False, True), *backwards[::-1]]
    assert result.dtype is torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")


def test_leaving_in_the_middle_restores_the_modes_of_the_entry() -> None:
    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        g.call_function(torch._C._set_grad_enabled, (False,))
        return g.call_function(torch.neg, (x,))

    with Driver(at_stop=Moves(lambda thread: thread.abandon())) as driver:
        driver.break_on("neg")
        with pytest.raises(Abandoned):
            graph_of(build)(torch.zeros(2))
    assert torch.is_grad_enabled()


def test_recordings_over_the_budget_let_the_oldest_go_and_say_which_node_needed_them() -> None:
    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        for _ in range(8):
            g.call_method("add_", (x, 1))
        return x

    refused: list[str] = []

    def too_far(thread: DebugThread) -> None:
        with pytest.raises(PastGoneError) as failure:
            go_to(thread, thread.frames[0], 1)
        refused.append(str(failure.value))

    x = torch.zeros(256)
    moves = Moves(step_back, step_back, too_far)
    with Driver(at_stop=moves) as driver:
        driver.debugger.retention = Retention(lambda free: 8000)
        driver.break_on("output")
        graph_of(build)(x)
    assert refused[0].startswith("what %add__4 wrote over was let go")
    assert x.tolist() == [8.0] * 256


def test_released_values_are_named_when_going_back_would_need_them() -> None:
    with Driver(at_stop=Moves(expect_refusal("%n1 is needed from there on and was released"))) as d:
        d.debugger.options.keep_values = False
        d.break_on("n3")
        chain()(torch.zeros(()))


def expect_refusal(text: str, move: Move = step_back) -> Move:
    def refused(thread: DebugThread) -> None:
        with pytest.raises(PastGoneError, match=text):
            move(thread)

    return refused


class Logging(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        return value * 10 if n.name == "n1" else value


@pytest.mark.parametrize("kind", [fx.Interpreter, Logging])
@pytest.mark.parametrize("collect", [True, False])
def test_a_run_of_a_users_interpreter_goes_back_and_forth_where_torchs_loop_drives_it(
    kind: type[fx.Interpreter], collect: bool
) -> None:
    module = chain()
    plain = kind(module).run(torch.zeros(()))
    moves = Moves(step_back, step_back, over, step_back, lambda t: restart(t, t.frames[0]), go)
    with Driver(at_stop=moves) as driver:
        driver.break_on("n3")
        result = kind(module, garbage_collect_values=collect).run(torch.zeros(()))
    assert driver.places == ["%n3", "%n2", "%n1", "%n2", "%n1", "%x", "%n3"]
    assert result.item() == plain.item()


class OwnLoop(fx.Interpreter):
    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.env = {}
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            self.env[node] = self.run_node(node)
        return self.env[node]


def test_a_loop_of_the_users_own_can_only_be_started_again() -> None:
    refused = expect_refusal("OwnLoop.run is code of yours")

    def again(thread: DebugThread) -> Travel:
        refused(thread)
        return restart(thread, thread.frames[0])

    moves = Moves(again, go)
    with Driver(at_stop=moves) as driver:
        driver.break_on("n1")
        result = OwnLoop(chain()).run(torch.zeros(()))
    assert driver.places == ["%n1", "%x", "%n1"]
    assert result.item() == 4.0


def test_nothing_recorded_outlives_the_run_or_the_session() -> None:
    held: list[weakref.ref[Any]] = []

    def hold(thread: DebugThread) -> Travel:
        frame = thread.frames[-1]
        assert frame.history is not None
        held.extend(weakref.ref(value) for value in frame.registers[1:3])
        copies = (s for e in frame.history.events for s in e.saved)
        held.extend(weakref.ref(s) for s in copies if isinstance(s, SavedTensor))
        return step_back(thread)

    def build(g: fx.Graph, x: fx.Node) -> fx.Node:
        value = g.call_function(torch.neg, (x,))
        g.call_method("add_", (value, 1))
        return g.call_function(torch.sum, (value,))

    def leave(thread: DebugThread) -> None:
        thread.debugger.end()

    with Driver(at_stop=Moves(hold, over, leave)) as driver:
        driver.break_on("sum_1")
        graph_of(build)(torch.zeros(2))
    gc.collect()
    assert len(held) == 3
    assert [each() for each in held] == [None, None, None]
