"""Which nodes can be run a second time, on copies, without the user noticing.

Torch's own operations can: what they write are their arguments, which are copies, and the random
state, which is put back. Code of the user's may print, count or write files.
"""

import math
import operator
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.fx import Node
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from fxdap.graphs.calls import has_hooks
from fxdap.view.node_text import target_name

_NAMESPACES = ("aten", "prims", "prim", "quantized", "torchvision")
_MODULES = (
    torch,
    torch.nn.functional,
    torch.linalg,
    torch.fft,
    torch.special,
    torch._C._nn,
    operator,
    math,
)
_STATEFUL = ("seed", "rng", "set_", "save", "load", "compile", "enable", "use_", "autocast")
_BUILTINS = (getattr, len, min, max, sum, abs, round, int, float, bool, tuple, list, dict, slice)
_VALUES = (bool, int, float, complex, str, tuple, list, dict, torch.Size, torch.dtype)
_METHODS = ("backward", "register_hook", "retain_grad", "requires_grad_", "share_memory_", "set_")


def unsafe_reason(node: Node, module: torch.nn.Module, args: tuple[Any, ...]) -> str | None:
    """Why a node cannot be run twice; None if it can."""
    if _get_current_dispatch_mode_stack() or torch._C._len_torch_function_stack():
        return "a torch mode is active, which would see every operation twice"
    if node.op == "call_function" and not _is_pure_function(node.target):
        return f"{target_name(node)} may have effects of its own"
    if node.op == "call_method" and not _is_pure_method(str(node.target), args):
        return f"{target_name(node)} may have effects of its own"
    if node.op == "call_module" and not _is_pure_module(module.get_submodule(str(node.target))):
        return f"{node.target} is not a plain module of torch.nn, so it may have effects of its own"
    return None


def _is_pure_function(target: Any) -> bool:
    if isinstance(target, HigherOrderOperator):
        return False
    if isinstance(target, OpOverload):
        return target.namespace in _NAMESPACES
    if isinstance(target, OpOverloadPacket):
        return target._qualified_op_name.partition("::")[0] in _NAMESPACES
    if any(target is known for known in _BUILTINS):
        return True
    name = getattr(target, "__name__", "")
    if any(word in name for word in _STATEFUL):
        return False
    return any(getattr(module, name, None) is target for module in _MODULES)


def _is_pure_method(name: str, args: tuple[Any, ...]) -> bool:
    owner = args[0] if args else None
    if isinstance(owner, torch.Tensor):
        return hasattr(torch.Tensor, name) and name not in _METHODS
    return type(owner) in _VALUES


def _is_pure_module(module: torch.nn.Module) -> bool:
    return all(
        type(each).__module__.startswith("torch.nn.modules.") and not has_hooks(each)
        for each in module.modules()
    )
