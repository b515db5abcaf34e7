"""Tracing one call of a module, and making sure that the graph does what the module does.

Both run on copies of the arguments; the module, its buffers and the random state are put back, so
nobody notices. The graph is used only if results, gradients, buffers and random state agree bit for
bit.
"""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from fxdap.graphs.capture import first_line
from fxdap.graphs.leaves.bits import same_bits
from fxdap.graphs.leaves.state import ModuleState, random_states
from fxdap.graphs.tracer import SourceTracer
from fxdap.graphs.verify.copies import Copies, NotCopiedError

T = TypeVar("T")
Call = Callable[..., Any]


class NotTraceableError(Exception):
    """Why a module's call cannot be entered as a graph."""


class _LeafTracer(SourceTracer):
    # Buffers become nodes: what is written to them is recorded, not done while tracing.
    proxy_buffer_attributes = True


@dataclass(frozen=True)
class Traced:
    """A leaf module's call as a graph, and how it was traced."""

    graph: fx.GraphModule
    how: str


@dataclass(frozen=True)
class _Outcome:
    """All that a call gives and leaves behind."""

    result: Any
    arguments: Any
    gradients: Any
    tensors: list[torch.Tensor]
    random: list[torch.Tensor]


def trace_call(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Trace one call of a module. NotTraceableError says why that cannot be done."""
    trial = _Trial(module, args, kwargs)
    expected = trial.of_module()
    reasons = []
    for how, trace in (("symbolic_trace", _symbolic), ("make_fx", _make_fx)):
        try:
            graph = trial.undone(functools.partial(trace, module, *trial.copies()))
            problem = _difference(trial.run(_forward_of(graph)), expected)
        except Exception as error:
            problem = first_line(error)
        if problem is None:
            return Traced(graph, how)
        reasons.append(f"{how}: {problem}")
    raise NotTraceableError("; ".join(reasons))


class _Trial:
    """Runs a call on copies of its arguments, again and again, from one state."""

    def __init__(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._module = module
        self._given = args, kwargs
        self._state = ModuleState(module)
        if any(p._backward_hooks for p in module.parameters()):
            raise NotTraceableError("its parameters have hooks that a trial would run")

    def copies(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Fresh copies of the arguments, which want gradients where the arguments do."""
        copies = Copies()
        try:
            args, kwargs = copies.of(self._given)
        except NotCopiedError as error:
            raise NotTraceableError(f"its arguments cannot be copied: {error}") from None
        for original, copied in copies.pairs:
            copied.requires_grad_(original.requires_grad)
        return args, kwargs

    def of_module(self) -> _Outcome:
        """What the module itself does. NotTraceableError if it does what no graph can hold."""
        printed = io.StringIO()
        changed: list[str | None] = []

        def forward(*args: Any, **kwargs: Any) -> Any:
            with contextlib.redirect_stdout(printed):
                result = self._module.forward(*args, **kwargs)
            changed.append(self._state.changed_attribute())
            return result

        try:
            outcome = self.run(forward)
        except NotTraceableError:
            raise
        except Exception as error:
            raise NotTraceableError(f"it raises {first_line(error)}") from None
        if printed.getvalue():
            raise NotTraceableError("its forward prints, which a graph would not")
        if changed[0] is not None:
            raise NotTraceableError(f"its forward sets {changed[0]}, which a graph would not")
        return outcome

    def run(self, call: Call) -> _Outcome:
        """All that a call does, from the state of the beginning, which is put back."""
        return self.undone(lambda: self._run(call))

    def _run(self, call: Call) -> _Outcome:
        args, kwargs = self.copies()
        leaves = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        wanted = [t for t in (*leaves, *self._module.parameters()) if t.requires_grad]
        given = [t.view_as(t) if t.requires_grad else t for t in leaves]
        by_id = {id(t): g for t, g in zip(leaves, given, strict=True)}
        args, kwargs = pytree.tree_map(lambda v: by_id.get(id(v), v), (args, kwargs))
        result = call(*args, **kwargs)
        return _Outcome(
            pytree.tree_map(_detached, result),
            pytree.tree_map(_detached, (args, kwargs)),
            _gradients(result, wanted),
            self._state.tensors(),
            random_states(),
        )

    def undone(self, action: Callable[[], T]) -> T:
        """Do something, and put the module and the random state back."""
        try:
            return action()
        finally:
            self._state.restore()


def _detached(value: Any) -> Any:
    """A tensor's content now, with its strides, and whether it wants a gradient."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _gradients(result: Any, wanted: list[torch.Tensor]) -> Any:
    tensors = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
    differentiable = [t for t in tensors if t.requires_grad]
    if not differentiable or not wanted:
        return None
    weights = [torch.linspace(0.5, 1.5, t.numel()).to(t).reshape(t.shape) for t in differentiable]
    return torch.autograd.grad(differentiable, wanted, weights, allow_unused=True)


def _difference(actual: _Outcome, expected: _Outcome) -> str | None:
    if not same_bits(actual.result, expected.result):
        return "the graph's result is another one"
    if not same_bits(actual.gradients, expected.gradients):
        return "the graph's gradients are others"
    if not same_bits(actual.arguments, expected.arguments):
        return "the graph leaves other arguments"
    if not same_bits(actual.tensors, expected.tensors):
        return "the graph leaves other buffers"
    if not same_bits(actual.random, expected.random):
        return "the graph draws other random numbers"
    return None


def _forward_of(graph: fx.GraphModule) -> Call:
    """The graph's code without the call that the debugger watches."""
    return lambda *args, **kwargs: type(graph).forward(graph, *args, **kwargs)


def _symbolic(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> fx.GraphModule:
    graph = _LeafTracer().trace(module)
    return fx.GraphModule(module, graph, type(module).__name__)


def _make_fx(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> fx.GraphModule:
    if kwargs:
        raise NotTraceableError("it is called with keyword arguments")
    # The graph serves this one call, so a way that depends on values may be taken for good.
    record = make_fx(
        lambda *given: module.forward(*given), pre_dispatch=True, _error_on_data_dependent_ops=False
    )
    graph: fx.GraphModule = record(*args)
    return graph
