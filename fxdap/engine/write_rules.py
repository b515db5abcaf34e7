"""What is recorded of a node that tells what it writes in place."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

from fxdap.engine.execute import fetch_attribute
from fxdap.engine.opaque import is_known, runs_python
from fxdap.engine.program import Step

Places = tuple[int | str, ...]


@dataclass(frozen=True)
class Write:
    """What one node may write."""

    arguments: Places = ()
    """By position or by name; what is not there is not written."""
    by_module: bool = False
    """Its arguments are written only if the called module's `inplace` is set."""
    state: bool = False
    """The called module's buffers."""
    unknown: bool = False
    """Nothing is known: any argument, and anything else."""


def node_write(module: torch.nn.Module, step: Step) -> Write | None:
    """What a node of a graph over `module` may write; None for most nodes."""
    if step.op == "call_method":
        return Write((0,)) if _is_inplace_name(str(step.target)) else _as_write(_out(step))
    if step.op == "call_module":
        return _module_write(module, step)
    return _function_write(module, step) if step.op == "call_function" else None


def is_torchs(target: Any) -> bool:
    """Whether a function lives as long as torch does, so that what is known of it can be kept."""
    return isinstance(target, OpOverload) or (
        isinstance(target, (FunctionType, BuiltinFunctionType)) and is_known(target)
    )


def only_reads(step: Step) -> bool:
    """Whether what a node calls never writes, but with one of the `TELLING` arguments."""
    return step.op == "call_function" and is_torchs(step.target) and _only_reads(step.target)


TELLING = {"out", "inplace", "max_norm"}
"""Keyword arguments with which a function writes that else does not."""


@lru_cache(maxsize=8192)
def _only_reads(target: Any) -> bool:
    """Whether a function of torch's never writes, whatever its positional arguments are."""
    name = str(getattr(target, "__name__", ""))
    if isinstance(target, OpOverload):
        name = target._schema.name.rpartition("::")[2]
    if name in (*_NORMS, "instance_norm") or _inplace_position(target) is not None:
        return False
    return _function_write(_NOWHERE, Step("call_function", target, (), {})) is None


_NOWHERE = torch.nn.Module()


def _as_write(places: Places) -> Write | None:
    return Write(places) if places else None


def _module_write(module: torch.nn.Module, step: Step) -> Write | None:
    try:
        called = fetch_attribute(module, str(step.target))
    except AttributeError:
        return None
    if isinstance(called, GraphModule) and not _has_hooks(called):
        return None if _is_pure(called) else Write(state=True, unknown=True)
    if runs_python(module, step) or _has_hooks(called):
        return Write(state=True, unknown=True)
    inner = list(called.modules())
    inplace = any(hasattr(each, "inplace") for each in inner)
    limited = any(getattr(each, "max_norm", None) is not None for each in inner)
    state = limited or any(each._buffers for each in inner)
    if not inplace and not state:
        return None
    return Write((0, "input") if inplace else (), by_module=True, state=state)


def _has_hooks(module: torch.nn.Module) -> bool:
    return any(m._forward_hooks or m._forward_pre_hooks for m in module.modules())


def _is_pure(body: GraphModule) -> bool:
    """Whether no node of a nested graph may write anything."""
    steps = (Step(n.op, n.target, n.args, n.kwargs) for n in body.graph.nodes)
    return all(node_write(body, step) is None for step in steps)


def _function_write(module: torch.nn.Module, step: Step) -> Write | None:
    target = step.target
    if isinstance(target, OpOverload):
        return _operator_write(target, step)
    if isinstance(target, HigherOrderOperator):
        return _higher_order_write(module, step)
    if runs_python(module, step) or _is_impure(target):
        return Write(unknown=True)
    if isinstance(target, OpOverloadPacket):
        return _packet_write(target, step)
    name = str(getattr(target, "__name__", ""))
    if target in (operator.setitem, operator.delitem) or _is_inplace_name(name):
        return Write((0,))
    places = _statistics(name, step) + _inplace_flag(target, step) + _out(step)
    if step.kwargs.get("max_norm") is not None:
        places += (1, "weight")
    return _as_write(places)


def _packet_write(target: OpOverloadPacket, step: Step) -> Write | None:
    first: OpOverload = getattr(target, target._overload_names[0])
    return _as_write(_schema_places(first) + _out(step))


def _operator_write(target: OpOverload, step: Step) -> Write | None:
    places = _schema_places(target)
    name = target._schema.name.rpartition("::")[2]
    if target.namespace in _NATIVE:
        return _as_write(places + _statistics(name, step))
    # What a custom operator does beside what its schema declares is unknown; it is trusted with
    # its arguments.
    return _as_write(places)


_NATIVE = ("aten", "prim", "prims")


def _higher_order_write(module: torch.nn.Module, step: Step) -> Write | None:
    """An operator over graphs writes what they write; of others little is known."""
    if str(step.target.__name__).startswith("auto_functionalized"):
        return None
    found = list(bodies(module, step))
    return None if found and all(map(_is_pure, found)) else Write(unknown=True)


def bodies(module: torch.nn.Module, step: Step) -> Iterator[GraphModule]:
    """The graphs handed to a higher-order operator, or called."""
    if step.op == "call_module":
        called = fetch_attribute(module, str(step.target))
        if isinstance(called, GraphModule):
            yield called
        return
    for leaf in tree_leaves((step.args, step.kwargs)):
        if isinstance(leaf, Node) and leaf.op == "get_attr":
            value = fetch_attribute(module, str(leaf.target))
            if isinstance(value, GraphModule):
                yield value


_IMPURE_BUILTINS = {"print", "input", "open", "exec", "eval", "setattr", "delattr", "next"}


def _is_impure(target: Any) -> bool:
    home = getattr(target, "__module__", None)
    return home == "builtins" and getattr(target, "__name__", "") in _IMPURE_BUILTINS


_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
    "lshift", "rshift", "concat",
)  # fmt: skip
_INPLACE = {f"i{name}" for name in _OPERATORS}
_MISLEADING = {"and_", "or_", "not_", "is_", "_"}
"""Names that end as in-place ones do: of `operator`, whose in-place functions are those above."""


def _is_inplace_name(name: str) -> bool:
    """torch's convention of names, and Python's in-place operators."""
    if name.startswith("__"):
        return name in ("__setitem__", "__delitem__") or name[2:-2] in _INPLACE
    return name in _INPLACE or (name.endswith("_") and name not in _MISLEADING)


@lru_cache(maxsize=4096)
def _schema_places(target: OpOverload) -> Places:
    places: list[int | str] = []
    for position, argument in enumerate(target._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            places += [argument.name] if argument.kwarg_only else [position, argument.name]
    return tuple(places)


_NORMS = ("batch_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm")
_FLAG = 5
"""Position of `training` (or `use_input_stats`) in all of them."""


def _statistics(name: str, step: Step) -> Places:
    """Running statistics that a norm updates; its schema does not tell."""
    if name != "instance_norm" and name not in _NORMS:
        return ()
    functional = getattr(step.target, "__module__", "") == "torch.nn.functional"
    updates = step.args[_FLAG] if len(step.args) > _FLAG else name == "instance_norm" and functional
    updates = step.kwargs.get("training", step.kwargs.get("use_input_stats", updates))
    if updates is False:
        return ()
    positions = (1, 2) if functional else (3, 4)
    return (*positions, "running_mean", "running_var")


def _inplace_flag(target: Any, step: Step) -> Places:
    given = step.kwargs.get("inplace")
    if given is None:
        position = _inplace_position(target) if len(step.args) > 1 else None
        given = position is not None and len(step.args) > position and step.args[position]
    return (0, "input") if given is not False else ()


@lru_cache(maxsize=4096)
def _inplace_position(target: Any) -> int | None:
    if getattr(target, "__module__", None) != "torch.nn.functional":
        return None
    try:
        return list(inspect.signature(target).parameters).index("inplace")
    except (TypeError, ValueError):
        return None


def _out(step: Step) -> Places:
    return ("out",) if step.kwargs.get("out") is not None else ()
