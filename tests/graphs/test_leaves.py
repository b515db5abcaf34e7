"""Stepping into leaf modules: a graph that does the same is entered, else it is told why not."""

from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.graphs.entering import enter, step_in_targets
from fxdap.graphs.leaves import NotTraceableError, trace_call
from sample_models import control_flow, leaves
from tests.engine.driver import Driver, assert_same


def _enter_at(*names: str) -> Any:
    """At stops before these nodes, step in as the server does; else go on."""

    def at_stop(driver: Driver, thread: Any, stop: Any) -> Any:
        frame = thread.frames[-1]
        return enter(frame) if frame.node.name in names and len(thread.frames) == 1 else None

    return at_stop


def _run(module: nn.Module, x: torch.Tensor) -> tuple[Any, ...]:
    """All that a training step of a fresh model gives and leaves behind."""
    torch.manual_seed(3)
    for parameter in module.parameters():
        parameter.grad = None
    x = x.clone().requires_grad_()
    result = module(x)
    result.sum().backward()
    state = {name: value.clone() for name, value in module.state_dict().items()}
    grads = [parameter.grad for parameter in module.parameters()]
    return result.detach(), x.grad, grads, state, torch.get_rng_state()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("runs_before", [0, 2])
@pytest.mark.parametrize("leaf", ["encoder", "scaled", "counting", "rising"])
def test_a_step_into_a_leaf_changes_nothing(leaf, training, runs_before):
    (x,) = leaves.example_inputs()
    plain = leaves.model().train(training)
    stepped = leaves.model().train(training)
    expected = [_run(plain, x) for _ in range(runs_before + 2)]
    with Driver(at_stop=_enter_at(leaf)) as driver:
        for run in range(runs_before + 2):
            if run == runs_before:
                driver.break_on(leaf)
            assert_same(_run(stepped, x), expected[run])
    assert stepped.get_submodule("counting").calls == runs_before + 2
    assert all("forward" not in module.__dict__ for module in stepped.modules())
    if leaf == "counting":
        assert driver.places == ["%counting", "%rising"] * 2
    else:
        assert driver.places[0] == f"%{leaf}"
        assert driver.stops[1].stack[1] == f"Model%{leaf}"


def test_a_traced_leaf_shows_its_own_operations_and_lands_behind_its_call():
    module = leaves.model()
    with Driver("over over over over over over go", at_stop=_enter_at("scaled")) as driver:
        driver.break_on("scaled")
        module(*leaves.example_inputs())
        listing = driver.debugger.programs()[-1].listing.text
    assert driver.places == [
        "%scaled",
        "%x",
        "%linear",
        "%tanh",
        "%scale",
        "%mul",
        "%output",
        "%counting",
    ]
    assert "# Model.scaled" in listing
    assert "leaves.py" in listing


def test_what_cannot_be_entered_is_told_with_its_source():
    module = leaves.model()
    with Driver(at_stop=_enter_at("counting")) as driver:
        driver.break_on("counting")
        module(*leaves.example_inputs())
    (notice,) = driver.notices
    assert notice.startswith(
        "Step In cannot enter counting (Counting) as a graph: its forward sets calls, which a "
        "graph would not; its Python source is "
    )
    assert "leaves.py:" in notice


class Printing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("here")
        return x


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.sign(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class Quantizer(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return Straight.apply(x)


class Failing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")


X = torch.linspace(-1, 1, 4)


@pytest.mark.parametrize(
    ("module", "why"),
    [
        (Printing(), "its forward prints"),
        (Quantizer(), "make_fx: the graph's gradients are others"),
        (Failing(), "it raises ValueError: no"),
    ],
)
def test_a_module_whose_graph_would_differ_is_refused(module, why, capsys):
    x = X.clone().requires_grad_()
    with pytest.raises(NotTraceableError, match=why):
        trace_call(module, (x,), {})
    assert capsys.readouterr().out == ""
    assert x.grad is None


MODULES = [
    (nn.Linear(4, 3), torch.randn(2, 4)),
    (nn.BatchNorm2d(3), torch.randn(2, 3, 4, 4)),
    (nn.Dropout(0.3), torch.randn(50)),
    (nn.LSTM(4, 3, batch_first=True), torch.randn(2, 5, 4)),
    (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(2, 5, 8)),
    (nn.Embedding(5, 3), torch.tensor([1, 4])),
    (nn.Flatten(), torch.randn(2, 3, 4)),
    (nn.Softmax(dim=-1), torch.randn(2, 3)),
]


@pytest.mark.parametrize(("module", "x"), MODULES, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("training", [True, False])
def test_modules_of_torch_are_traced_to_graphs_that_do_the_same(module, x, training):
    module.train(training)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    random = torch.get_rng_state()
    traced = trace_call(module, (x,), {})
    assert isinstance(traced.graph, fx.GraphModule)
    assert_same(dict(module.state_dict()), before)
    assert torch.equal(torch.get_rng_state(), random)


def test_the_targets_of_a_step_in_are_what_the_node_will_call():
    labels: list[list[str]] = []

    def note(driver: Driver, thread: Any, stop: Any) -> None:
        labels.append([label for label, _ in step_in_targets(thread.frames[-1])])

    module, (x,) = control_flow.branch()
    graph = torch.export.export(module, (x,)).module()
    with Driver(at_stop=note) as driver:
        driver.break_on("cond")
        driver.break_on("scaled")
        driver.break_on("mul")
        graph(x)
        graph(-x)
        leaves.model()(*leaves.example_inputs())
    branches = [found for found in labels if found and found[0].endswith("graph_0")]
    assert branches == [["true_graph_0"], ["false_graph_0"]]
    assert labels[-1] == ["scaled  Scaled, traced"]
    assert labels.count([]) == len(labels) - 3


def test_a_chosen_target_is_entered_and_the_others_are_run():
    module, inputs = control_flow.loop()
    graph = torch.export.export(module, inputs).module()

    def choose(driver: Driver, thread: Any, stop: Any) -> Any:
        frame = thread.frames[-1]
        if frame.node.name != "while_loop":
            return None
        label, body = step_in_targets(frame)[1]
        assert label == "while_loop_body_graph_0"
        return enter(frame, body)

    with Driver(at_stop=choose) as driver:
        driver.break_on("while_loop")
        graph(*inputs)
    assert driver.places == ["%while_loop", "%while_loop_body_graph_0/arg0_1"]
