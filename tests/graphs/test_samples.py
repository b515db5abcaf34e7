"""On every sample, the debugger computes what torch computes, and leaves nothing behind."""

import gc
import importlib
import weakref
from typing import Any

import pytest
import torch
import torch.fx.passes.shape_prop
from torch import fx

from fxdap.graphs.tracer import trace_with_sources
from tests.engine.driver import (
    Driver,
    assert_same,
    kept_values,
    place_of,
    plain_snapshots,
    plain_values,
)

Made = tuple[fx.GraphModule, tuple[Any, ...], dict[str, Any]]


def _sample(name: str) -> Any:
    return importlib.import_module(f"sample_models.{name}")


def _model(name: str) -> Made:
    if name == "gpt":
        gpt = _sample("gpt")
        config = gpt.GPTConfig(blocks=2, width=32, context=16)
        return gpt.GPT(config), (torch.arange(16).unsqueeze(0),), {}
    if name == "script":
        torch.manual_seed(0)
        return _sample("script").Model(), (torch.linspace(0, 1, 8).reshape(2, 4),), {}
    module = _sample(name)
    inputs = module.example_inputs()
    args, kwargs = inputs if name == "bert" else (inputs, {})
    model = module.MLP() if name == "mlp" else module.model()
    return model, args, kwargs


def _traced(name: str) -> Made:
    model, args, kwargs = _model(name)
    return trace_with_sources(model), args, kwargs


def _exported(name: str) -> Made:
    model, args, kwargs = _model(name)
    return torch.export.export(model, args, kwargs).module(), args, kwargs


def _as_it_is(name: str) -> Made:
    return _model(name)


CASES = [
    pytest.param((_traced, "mlp"), id="mlp-symbolic_trace"),
    pytest.param((_traced, "cnn"), id="cnn-symbolic_trace"),
    pytest.param((_traced, "gpt"), id="gpt-symbolic_trace"),
    pytest.param((_as_it_is, "nested"), id="nested"),
    pytest.param((_traced, "script"), id="script-symbolic_trace"),
    pytest.param((_exported, "mlp"), id="mlp-export"),
    pytest.param((_exported, "cnn"), id="cnn-export"),
    pytest.param((_exported, "gpt"), id="gpt-export"),
    pytest.param((_exported, "bert"), id="bert-export"),
    pytest.param((_exported, "script"), id="script-export"),
]


@pytest.fixture(scope="module", params=CASES)
def case(request):
    make, name = request.param
    with torch.no_grad():
        module, args, kwargs = make(name)
    return module, args, kwargs


@pytest.fixture(scope="module")
def plain(case):
    """Every value by torch's own Interpreter, and the module's own result."""
    module, args, kwargs = case
    with torch.no_grad():
        return plain_values(module, *args, *kwargs.values()), module(*args, **kwargs)


def _run(case: Made, driver: Driver) -> Any:
    module, args, kwargs = case
    with torch.no_grad():
        return module(*args, **kwargs)


def _values_at_end(driver: Driver) -> list[dict[str, Any]]:
    """What the outermost frame held when its output node had run, at each run."""
    held: list[dict[str, Any]] = []

    def keep(_: Driver, thread: Any, stop: Any) -> None:
        if thread.frames[0] is thread.frames[-1]:
            held.append(kept_values(thread.frames[0]))

    driver._at_stop = keep
    driver.break_on("after:op:output")
    return held


def test_every_value_of_the_walked_and_of_the_compiled_runs_is_what_torch_computes(case, plain):
    driver = Driver()
    held = _values_at_end(driver)
    values, result = plain
    with driver:
        results = [_run(case, driver) for _ in range(3)]
    assert len(held) == 3
    for run, got in zip(held, results, strict=True):
        assert_same(run, values)
        assert_same(got, result)


def test_every_value_seen_while_stepping_is_what_torch_computes(case, plain):
    _, result = plain
    module, args, kwargs = case
    with torch.no_grad():
        values = plain_snapshots(module, *args, *kwargs.values())
    seen: list[str] = []

    def compare(driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        index = frame.position
        seen.append(place_of(frame))
        if index and len(thread.frames) == 1:
            name = frame.program.nodes[index - 1].name
            assert_same(frame.value(index - 1), values[name], name)

    driver = Driver(at_stop=compare, entry=True)
    driver.forever = "over"
    with driver:
        first = _run(case, driver)
        again = _run(case, driver)
    names = [f"%{node.name}" for node in module.graph.nodes]
    assert seen == names * 2
    assert_same(first, result)
    assert_same(again, result)


def test_values_no_longer_needed_are_let_go_without_changing_the_result(case, plain):
    _, result = plain
    with Driver(keep_values=False) as driver:
        for _ in range(3):
            assert_same(_run(case, driver), result)


def test_the_module_is_the_same_afterwards(case, plain):
    module = case[0]
    before = (str(module.graph), module.code, list(module.__dict__), dict(type(module).__dict__))
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        _run(case, driver)
        driver.forever = None
        _run(case, driver)
    after = (str(module.graph), module.code, list(module.__dict__), dict(type(module).__dict__))
    assert after == before


def test_no_intermediate_value_outlives_the_session(case):
    alive: list[weakref.ref[Any]] = []

    def note(_: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        alive.extend(
            weakref.ref(value)
            for node, value in zip(frame.program.nodes, frame.registers, strict=True)
            if isinstance(value, torch.Tensor) and node.op.startswith("call_")
        )

    driver = Driver(at_stop=note, entry=True)
    driver.break_on("op:output")
    with driver:
        _run(case, driver)
        _run(case, driver)
    gc.collect()
    assert alive
    assert [ref() for ref in alive if ref() is not None] == []


def test_torchs_own_functions_are_back_afterwards():
    places = [
        (fx.graph_module._WrappedCall, "__call__"),
        (fx.Interpreter, "__init__"),
        (fx.Interpreter, "run"),
        (fx.Interpreter, "run_node"),
        (fx.Transformer, "run_node"),
        (torch.fx.passes.shape_prop.ShapeProp, "run_node"),
    ]
    before = [owner.__dict__.get(name) for owner, name in places]
    with Driver():
        assert [owner.__dict__.get(name) for owner, name in places] != before
    assert [owner.__dict__.get(name) for owner, name in places] == before


def test_the_gpt_of_full_size_gives_the_modules_own_result():
    gpt = _sample("gpt")
    model, inputs = gpt.GPT(), gpt.example_inputs()
    with torch.no_grad():
        module = trace_with_sources(model)
        plain = module(*inputs)
        with Driver():
            assert torch.equal(module(*inputs), plain)
            assert torch.equal(module(*inputs), plain)
