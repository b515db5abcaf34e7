"""The nn.Module tree of a graph as DAP modules."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fxdap.engine.program import Program
from fxdap.wire.messages import Module


class ModuleRow(Module, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One module of a graph's tree."""

    class_name: str
    parameters: int
    bytes: int


def module_rows(program: Program) -> Iterator[Module]:
    """The tree of one graph's module: the root under the graph's name, the others by path."""
    for path, module in program.module.named_modules():
        yield module_row(program, path, module)


def module_row(program: Program, path: str, module: torch.nn.Module) -> Module:
    """One module; its own parameters and buffers and those below it are counted."""
    tensors = [*module.parameters(), *module.buffers()]
    return ModuleRow(
        id=f"{program.name}:{path}",
        name=path or program.name,
        path=program.file,
        class_name=type(module).__name__,
        is_user_code=not type(module).__module__.startswith("torch."),
        parameters=sum(p.numel() for p in module.parameters()),
        bytes=sum(_bytes(t) for t in tensors),
    )


def _bytes(tensor: torch.Tensor) -> int:
    try:
        return tensor.nbytes
    except (RuntimeError, ValueError):
        return 0
