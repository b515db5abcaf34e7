"""verifyInterpreter: torch's meaning runs beside the user's, unseen; a difference stops."""

import runpy
import warnings
from typing import Any

import pytest
import torch
from torch import fx, nn

import fxdap
from fxdap.graphs.verify import ValueMismatch
from tests.engine.driver import Driver, assert_same
from tests.graphs.correct_interpreters import (
    CORRECT,
    FAILING,
    Forgiving,
    InPlace,
    Model,
    SwapReluForSigmoid,
)
from tests.graphs.test_correct_interpreters import INPUTS, name, outcome
from tests.graphs.test_diagnosis import MISTAKES
from tests.graphs.test_interpreters import printed


def verified(work: Any) -> Driver:
    with Driver(verify_interpreter=True) as driver:
        printed(work)
    return driver


@pytest.mark.parametrize(
    ("mistake", "place", "text"),
    [
        (
            "other_value",
            "after %add",
            "%add: Caching gave f32[1, 2] cpu  min 0  ",
        ),
        (
            "stored_otherwise",
            "after %relu",
            "%relu: Scaling stored f32[1, 2] cpu",
        ),
    ],
)
def test_a_silent_mistake_stops_at_its_node_with_both_values(mistake, place, text):
    torch.manual_seed(3)
    path = str(MISTAKES / f"{mistake}.py")
    driver = verified(lambda: runpy.run_path(path, run_name="__main__"))
    assert driver.places == [place]
    assert driver.reasons == ["exception"]
    assert driver.stops[0].text.startswith(text)
    assert isinstance(driver.stops[0].error, ValueMismatch)


def run_node_wrong(node: str, wrong: Any) -> type[fx.Interpreter]:
    class Wrong(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            return wrong(value) if n.name == node else value

    return Wrong


@pytest.mark.parametrize(
    ("node", "wrong", "why"),
    [
        ("x", lambda v: v + 1, "gave f32[2, 3] cpu"),
        ("linear", lambda v: v.double(), "dtype"),
        ("relu", lambda v: v[:1], "shape"),
        ("scale", lambda v: v + 1e-3, "gave f32[] cpu  2.001; torch gives f32[] cpu  2.0 ("),
        ("tanh", lambda v: None, "gave None; torch gives f32[2, 3] cpu"),
        ("output", lambda v: (v,), "gave (f32[2]"),
    ],
)
def test_every_kind_of_node_is_compared(node, wrong, why):
    cls = run_node_wrong(node, wrong)
    module = fx.symbolic_trace(Model())
    with Driver(verify_interpreter=True) as driver:
        try:
            cls(module).run(*INPUTS)
        except (TypeError, RuntimeError, AttributeError):
            pass
    assert driver.places[0] == f"after %{node}"
    assert f"%{node}: Wrong " in driver.stops[0].text
    assert why in driver.stops[0].text


CHANGED = {SwapReluForSigmoid, Forgiving}
"""Those that compute something else on purpose."""


@pytest.mark.parametrize(
    ("cls", "run"), [(c, r) for c, r in CORRECT + FAILING if c not in CHANGED], ids=name
)
def test_correct_interpreters_are_the_same_while_they_are_verified(cls, run):
    expected = outcome(cls, run)
    with Driver(verify_interpreter=True) as driver:
        found = outcome(cls, run)
    assert_same(found, expected)
    assert [s.text for s in driver.stops if isinstance(s.error, ValueMismatch)] == []


def test_a_changed_meaning_is_a_difference():
    module = fx.symbolic_trace(Model())
    driver = verified(lambda: SwapReluForSigmoid(module).run(*INPUTS))
    assert driver.places == ["after %relu"]


class Random(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.drop(self.norm(x)) + torch.rand(3)
        hidden.add_(1)
        hidden.index_fill_(0, torch.zeros(1, dtype=torch.long), 5.0)
        noise: torch.Tensor = hidden.exponential_()
        return noise


class Plain(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        return super().run_node(n)


def test_random_in_place_and_stateful_nodes_happen_once():
    module, x = fx.symbolic_trace(Random()), torch.rand(4, 3)

    def run() -> Any:
        torch.manual_seed(1)
        norm = module.get_submodule("norm")
        norm.reset_running_stats()  # type: ignore[operator]
        result = Plain(module).run(x)
        return [result, torch.rand(1), *norm.buffers()]

    expected = run()
    with Driver(verify_interpreter=True) as driver:
        assert_same(run(), expected)
    assert driver.stops == []
    assert driver.notices == []


class NotInPlace(fx.Interpreter):
    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        return args[0] + args[1] if target == "add_" else super().call_method(target, args, kwargs)


def test_a_write_that_did_not_happen_is_a_difference():
    def write(x: torch.Tensor) -> torch.Tensor:
        y = x + 0
        y.add_(1)
        return y

    driver = verified(lambda: NotInPlace(fx.symbolic_trace(write)).run(torch.zeros(2)))
    assert driver.places == ["after %add_"]
    assert "left an argument as f32[2] cpu  min 0" in driver.stops[0].text


@fx.wrap
def counted(x: torch.Tensor) -> torch.Tensor:
    print("counted")
    return x + 1


def test_functions_of_the_users_run_once_and_are_said_to_be_left_out():
    module = fx.symbolic_trace(lambda x: counted(counted(x)))
    with Driver(verify_interpreter=True) as driver:
        _, text = printed(lambda: Plain(module).run(torch.zeros(1)))
    assert text == "counted\ncounted\n"
    assert driver.notices == [
        "verifyInterpreter: %counted is not verified: "
        "tests.graphs.test_verify.counted may have effects of its own"
    ]


def test_only_the_first_difference_of_a_run_stops():
    class Off(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(target, args, kwargs) + 1

    module = fx.symbolic_trace(lambda x: torch.relu(torch.neg(x)))
    driver = verified(lambda: Off(module).run(torch.zeros(1)))
    assert driver.places == ["after %neg"]


def test_another_way_to_the_same_values_is_no_difference():
    module = fx.symbolic_trace(Model())
    assert verified(lambda: InPlace(module).run(*INPUTS)).stops == []


def test_no_warning_is_shown_twice_and_none_is_lost():
    def warn(x: torch.Tensor) -> torch.Tensor:
        return x.T

    module = fx.symbolic_trace(warn)
    with warnings.catch_warnings(record=True) as shown, Driver(verify_interpreter=True) as driver:
        warnings.simplefilter("always")
        Plain(module).run(torch.zeros(2, 2, 2))
    assert driver.stops == []
    assert len(shown) <= 1


def test_nothing_is_verified_unless_asked_for():
    with Driver() as driver:
        SwapReluForSigmoid(fx.symbolic_trace(Model())).run(*INPUTS)
    assert driver.stops == []


def test_a_run_can_be_stepped_on_from_a_difference():
    module = fx.symbolic_trace(Model())
    driver = Driver("over over go", verify_interpreter=True)
    with driver:
        SwapReluForSigmoid(module).run(*INPUTS)
    assert driver.places == ["after %relu", "%scale", "%mul"]


def test_hooks_that_replace_values_are_differences():
    interpreter = fxdap.Interpreter(fx.symbolic_trace(Model()))
    interpreter.register_node_post_hook(lambda n, value: value * 2, where="target:torch.relu")
    assert verified(lambda: interpreter.run(*INPUTS)).places == ["after %relu"]


def test_a_node_that_cannot_run_fails_in_the_users_code():
    module = fx.symbolic_trace(Model())
    linear = next(n for n in module.graph.nodes if n.op == "call_module")
    linear.target = "gone"

    def error_of() -> tuple[type[BaseException], str]:
        with pytest.raises(RuntimeError) as caught:
            Plain(module).run(*INPUTS)
        return type(caught.value), str(caught.value)

    expected = error_of()
    with Driver(verify_interpreter=True) as driver:
        assert error_of() == expected
    assert driver.places == ["raised %linear"]
