"""In-place writes that leave no trace when a stretch of nodes is run again from its start.

A write into a value that the same stretch has made anew, such as `relu_` after a convolution, is
made again with it.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from fxdap.engine.program import Program
from fxdap.engine.watches.implied import operation_name
from fxdap.engine.watches.rerun import only_writes
from fxdap.engine.writes import find_writes, written_arguments

_MAKERS = {
    "add", "sub", "mul", "div", "truediv", "matmul", "mm", "bmm", "addmm", "baddbmm", "cat",
    "stack", "clone", "convolution", "linear", "bilinear", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "batch_norm", "layer_norm",
    "group_norm",
}  # fmt: skip
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
        elif _makes_new(program, source):
            made[index] = source
    return made


def _makes_new(program: Program, index: int) -> bool:
    """Whether what a node gives shares memory with nothing else."""
    step = program.steps[index]
    if step.op == "call_module":
        layer = program.module.get_submodule(str(step.target))
        return type(layer).__module__.startswith("torch.nn.") and isinstance(layer, _LAYERS)
    return operation_name(program, index) in _MAKERS and "out" not in step.kwargs
