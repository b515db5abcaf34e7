"""In-place writes that leave no trace when a stretch of nodes is run again from its start.

A write into a value that the same stretch has made anew, such as `relu_` after a convolution, is
made again with it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from fxdap.engine.program import Program, Step
from fxdap.engine.watches.rerun import only_writes
from fxdap.engine.writes import find_writes, written_arguments

_MAKERS = {
    "add", "sub", "mul", "div", "truediv", "matmul", "mm", "bmm", "addmm", "baddbmm", "cat",
    "stack", "clone", "convolution", "linear", "bilinear", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "batch_norm", "layer_norm",
    "group_norm",
}  # fmt: skip
_HOMES = ("_operator", "torch", "torch._C._nn", "torch.nn.functional", "torch._VariableFunctions")
_LAYERS = (
    torch.nn.Linear,
    torch.nn.Bilinear,
    torch.nn.LayerNorm,
    torch.nn.GroupNorm,
    torch.nn.modules.conv._ConvNd,
    torch.nn.modules.batchnorm._BatchNorm,
)


def fresh_writes(program: Program) -> dict[int, int]:
    """Nodes that do nothing but write into a fresh value: with the node that made that value."""
    made: dict[int, int] = {}
    for index, write in find_writes(program).items():
        if write.unknown or write.state or not only_writes(program.module, program.steps[index]):
            continue
        written = {n for n in written_arguments(program, index) if isinstance(n, Node)}
        if len(written) != 1:
            continue
        source = program.index[written.pop()]
        if source in made:
            made[index] = made[source]
        elif _makes_new(program, program.steps[source]):
            made[index] = source
    return made


def _makes_new(program: Program, step: Step) -> bool:
    """Whether what a node gives shares memory with nothing else."""
    target: Any = step.target
    if "out" in step.kwargs:
        return False
    if step.op == "call_module":
        layer = program.module.get_submodule(str(target))
        return type(layer).__module__.startswith("torch.nn.") and isinstance(layer, _LAYERS)
    if step.op == "call_method":
        return target in _MAKERS
    if isinstance(target, OpOverload):
        namespace, _, name = target._schema.name.partition("::")
        return namespace == "aten" and name in _MAKERS
    is_torchs = step.op == "call_function" and getattr(target, "__module__", "") in _HOMES
    return is_torchs and getattr(target, "__name__", "") in _MAKERS
