"""Which values need no look of their own, because another's tells enough.

Reading every value once costs more than many operations do. Two facts spare most of that:

- A *closed* operation gives finite values for finite arguments, such as `relu`: where its
  arguments are finite, so is its value.
- A *passing* operation gives something that is not finite wherever its argument has such a value,
  such as an addition: where its value is finite, so was its argument.

Both are about clean runs only: where a look shows anything, every node is looked at by itself.
What can overflow, such as `exp`, `mean` or a conversion, is not closed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator
from types import EllipsisType
from typing import Any, NamedTuple

import torch
from torch._ops import OpOverload
from torch.fx import Node

from fxdap.engine.program import Program
from fxdap.engine.watches.facts import FLOATS, NUMBERLESS, PARTS, Fact

SHORTEST = 2
"""Nodes of a stretch that is worth the thought. Single nodes, as a stop leaves them, are read."""

_CLOSED = {
    "abs", "alias", "cat", "chunk", "clone", "contiguous", "cos", "detach", "expand", "flatten",
    "flip", "getitem", "identity", "max_pool1d", "max_pool2d", "max_pool3d", "maximum", "minimum",
    "narrow", "neg", "permute", "relu", "relu6", "reshape", "roll", "select", "sigmoid", "sin",
    "slice", "softmax", "split", "split_with_sizes", "squeeze", "stack", "t", "tanh", "transpose",
    "tril", "triu", "unbind", "unsqueeze", "view",
}  # fmt: skip
_PASSING = {
    **dict.fromkeys(("add", "sub", "mul", "matmul", "mm", "bmm"), 2),
    **dict.fromkeys(("neg", "div", "truediv", "linear", "layer_norm", "batch_norm"), 1),
    **dict.fromkeys(("gelu", "silu"), 1),
}
"""How many of the first arguments each one passes on."""

_MODULES: dict[type, str] = {
    torch.nn.ReLU: "relu",
    torch.nn.ReLU6: "relu6",
    torch.nn.GELU: "gelu",
    torch.nn.SiLU: "silu",
    torch.nn.Sigmoid: "sigmoid",
    torch.nn.Tanh: "tanh",
    torch.nn.Softmax: "softmax",
    torch.nn.Identity: "identity",
    torch.nn.Flatten: "flatten",
    torch.nn.MaxPool1d: "max_pool1d",
    torch.nn.MaxPool2d: "max_pool2d",
    torch.nn.MaxPool3d: "max_pool3d",
    torch.nn.Linear: "linear",
    torch.nn.LayerNorm: "layer_norm",
    torch.nn.BatchNorm1d: "batch_norm",
    torch.nn.BatchNorm2d: "batch_norm",
    torch.nn.BatchNorm3d: "batch_norm",
}
_NAMESPACES = (
    "_operator",
    "torch",
    "torch._C._nn",
    "torch.nn.functional",
    "torch._VariableFunctions",
)


class Implied(NamedTuple):
    """The nodes of a stretch that need no look, while the values of `trusted` are finite."""

    nodes: frozenset[int]
    trusted: frozenset[int]
    """Nodes before the stretch, which were looked at when it began."""


NOTHING = Implied(frozenset(), frozenset())


Facts = Callable[[int], Fact]


def implied(
    program: Program,
    facts: Facts,
    span: range,
    is_finite: Callable[[int], bool],
    overwritten: Container[int] = (),
) -> Implied:
    """Work out what the values of a stretch tell of each other.

    All of it was found finite just now; `is_finite` says whether a node before it was, too. What
    is `overwritten` later in the stretch shows in no later value as it was.
    """
    if len(span) < SHORTEST:
        return NOTHING
    passed = _passed(program, facts, span, overwritten)
    anchors = {passed[index] for index in passed}
    nodes, trusted = set(passed), set()
    for index in span:
        if index in passed or index in anchors or not _is_closed(program, facts, index):
            continue
        before = {source for source in program.sources(index) if source not in span}
        if all(map(is_finite, before)):
            nodes.add(index)
            trusted |= before
    return Implied(frozenset(nodes), frozenset(trusted))


def _passed(
    program: Program, facts: Facts, span: range, overwritten: Container[int]
) -> dict[int, int]:
    """For each node whose value would show in another's of the stretch: that other one."""
    found: dict[int, int] = {}
    for index in reversed(span):
        for source in _passes(program, facts, index):
            if source in span and source not in overwritten:
                found[source] = index
    return found


def _passes(program: Program, facts: Facts, index: int) -> Iterator[int]:
    """The nodes whose values all show in the value of this one."""
    count = _PASSING.get(operation_name(program, index), 0)
    for argument in program.steps[index].args[:count]:
        if isinstance(argument, Node):
            source = program.index[argument]
            value, given = facts(index), facts(source)
            if value.kind == given.kind == FLOATS and given.size and value.size:
                yield source


def _is_closed(program: Program, facts: Facts, index: int) -> bool:
    step, name = program.steps[index], operation_name(program, index)
    if name not in _CLOSED or facts(index).kind not in (FLOATS, PARTS):
        return False
    harmless = (FLOATS, PARTS, NUMBERLESS) if name == "getitem" else (FLOATS, PARTS)
    given = (facts(source).kind for source in program.sources(index))
    constants = torch.fx.node.map_arg((step.args, step.kwargs), lambda node: None)
    return all(kind in harmless for kind in given) and _all_finite(constants)


def _all_finite(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_all_finite, value))
    if isinstance(value, dict):
        return all(map(_all_finite, value.values()))
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, slice):
        return _all_finite((value.start, value.stop, value.step))
    return isinstance(value, (int, str, torch.memory_format, type(None), EllipsisType))


def operation_name(program: Program, index: int) -> str:
    """What torch's own operation of a node is called; "" where it is anyone else's."""
    step = program.steps[index]
    target: Any = step.target
    if step.op == "call_module":
        layer = program.module.get_submodule(str(target))
        return _MODULES.get(type(layer), "")
    if step.op == "call_method":
        return str(target)
    if isinstance(target, OpOverload):
        namespace, _, name = target._schema.name.partition("::")
        return name if namespace == "aten" else ""
    is_torchs = step.op == "call_function" and getattr(target, "__module__", "") in _NAMESPACES
    return str(getattr(target, "__name__", "")) if is_torchs else ""
