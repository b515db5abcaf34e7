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
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch._ops import OpOverload
from torch.fx import Node

from fxdap.engine.program import Program
from fxdap.engine.watches.leaves import stored_floats

SHORTEST = 2
"""Nodes of a stretch that is worth the thought. Single nodes, as a stop leaves them, are read."""

_CLOSED = {
    "abs", "alias", "cat", "clone", "contiguous", "cos", "detach", "flatten", "flip", "identity",
    "max_pool1d", "max_pool2d", "max_pool3d", "maximum", "minimum", "neg", "permute",
    "relu", "relu6", "reshape", "roll", "sigmoid", "sin", "softmax", "squeeze", "stack",
    "t", "tanh", "transpose", "tril", "triu", "unsqueeze", "view",
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


def implied(
    program: Program, registers: list[Any], span: range, is_finite: Callable[[int], bool]
) -> Implied:
    """Work out what the values of a stretch tell of each other.

    All of it was found finite just now; `is_finite` says whether a node before it was, too.
    """
    if len(span) < SHORTEST:
        return NOTHING
    passed = _passed(program, registers, span)
    anchors = {passed[index] for index in passed}
    nodes, trusted = set(passed), set()
    for index in span:
        if index in passed or index in anchors or not _is_closed(program, registers, index):
            continue
        before = {source for source in program.sources(index) if source not in span}
        if all(map(is_finite, before)):
            nodes.add(index)
            trusted |= before
    return Implied(frozenset(nodes), frozenset(trusted))


def _passed(program: Program, registers: list[Any], span: range) -> dict[int, int]:
    """For each node whose value would show in another's of the stretch: that other one."""
    found: dict[int, int] = {}
    for index in reversed(span):
        for source in _passes(program, registers, index):
            if source in span:
                found[source] = index
    return found


def _passes(program: Program, registers: list[Any], index: int) -> Iterator[int]:
    """The nodes whose values all show in the value of this one."""
    step, value = program.steps[index], registers[index]
    count = _PASSING.get(_name(program, index), 0)
    for argument in step.args[:count]:
        if isinstance(argument, Node):
            source = program.index[argument]
            given = registers[source]
            if _is_plain(value) and _is_plain(given) and given.numel() > 0 and value.numel():
                yield source


def _is_closed(program: Program, registers: list[Any], index: int) -> bool:
    step = program.steps[index]
    if _name(program, index) not in _CLOSED or not _is_plain(registers[index]):
        return False
    given = (registers[source] for source in program.sources(index))
    constants = torch.fx.node.map_arg((step.args, step.kwargs), lambda node: None)
    return all(map(_is_plain, given)) and _all_finite(constants)


def _all_finite(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_all_finite, value))
    if isinstance(value, dict):
        return all(map(_all_finite, value.values()))
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (int, str, torch.memory_format, type(None)))


def _is_plain(value: Any) -> bool:
    is_tensor = isinstance(value, torch.Tensor)
    return is_tensor and value.dtype.is_floating_point and stored_floats(value) is value


def _name(program: Program, index: int) -> str:
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
