"""Which nodes run Python that is not torch's own: anything may happen in them."""

from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.fx import GraphModule

from fxdap.engine.codegen import Operation

_KNOWN = {"torch", "_operator", "builtins", "math", "numbers"}
_NATIVE = {"aten", "prim", "prims"}


def runs_python(module: torch.nn.Module, node: Operation) -> bool:
    """Whether the node calls the user's Python, another graph, or an operator of somebody's."""
    target: Any = node.target
    if node.op == "call_function":
        if isinstance(target, (OpOverload, OpOverloadPacket)):
            return namespace(target) not in _NATIVE
        return isinstance(target, HigherOrderOperator) or not is_known(target)
    if node.op == "call_module":
        called: Any = module
        for atom in str(target).split("."):
            called = getattr(called, atom, None)
        return isinstance(called, GraphModule) or not is_known(type(called))
    return False


def namespace(op: OpOverload | OpOverloadPacket) -> str:
    """The library that defines an operator, such as `aten`."""
    return qualified_name(op).partition("::")[0]


def qualified_name(op: OpOverload | OpOverloadPacket) -> str:
    """An operator's name without its overload, such as `aten::relu`."""
    packet = op.overloadpacket if isinstance(op, OpOverload) else op
    return packet._qualified_op_name


def is_known(thing: Any) -> bool:
    """Builtins of torch say None for their module."""
    home = getattr(thing, "__module__", None)
    return home is None or str(home).partition(".")[0] in _KNOWN
