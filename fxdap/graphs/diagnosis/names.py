"""The nearest existing name for a parameter, buffer or module that a graph refers to."""

from collections.abc import Iterator
from difflib import get_close_matches

import torch


def near_target(module: torch.nn.Module, target: str) -> str:
    """What to do about a target that a module does not have."""
    names = sorted(set(_targets(module)))
    near = get_close_matches(target, names, n=3, cutoff=0.6)
    if near:
        return f"it has {', '.join(map(repr, near))}; correct the node's target or the module"
    if not names:
        return (
            "the module has no parameters, buffers or submodules: give the module that was traced"
        )
    shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    return f"it has {shown}; register the missing one, or give the module that was traced"


def _targets(module: torch.nn.Module) -> Iterator[str]:
    yield from (name for name, _ in module.named_parameters(remove_duplicate=False))
    yield from (name for name, _ in module.named_buffers(remove_duplicate=False))
    yield from (name for name, _ in module.named_modules(remove_duplicate=False) if name)
