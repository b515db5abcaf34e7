"""The recorded type of a node: `f32[1, s0, 8]`, `(f32[2], i64[2])`, `Sym(s0)`."""

from typing import Any

import torch
from torch.fx import Node

from fxdap.view.dtypes import dtype_text

_KEYS = ("val", "example_value", "tensor_meta")
_MAX_ITEMS = 16
_MAX_DEPTH = 4


def type_text(node: Node) -> str:
    """The type that the node's meta recorded, "" when it recorded none."""
    meta = node.meta
    for key in _KEYS:
        if key in meta:
            return meta_type_text(meta[key])
    return ""


def meta_type_text(value: Any, depth: int = 0) -> str:
    """The type of a recorded value; reads shapes only, so it adds no guards and no copies."""
    if isinstance(value, torch.Tensor) or _is_tensor_metadata(value):
        return tensor_type(value)
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)):
        return _sequence_type(value, depth)
    if isinstance(value, dict):
        pairs = list(value.items())[:_MAX_ITEMS]
        items = [f"{key!r}: {meta_type_text(item, depth + 1)}" for key, item in pairs]
        return "{" + ", ".join(items) + _rest(len(value)) + "}"
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return f"Sym({value})"
    return type(value).__name__


def tensor_type(tensor: Any) -> str:
    """`f32[2, 6]` of anything that has a dtype and a shape; `f32[?]` if it will not tell."""
    try:
        shape = ", ".join(map(str, tensor.shape))
    except Exception:
        shape = "?"
    return f"{dtype_text(tensor.dtype)}[{shape}]"


def _is_tensor_metadata(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "dtype") and hasattr(value, "shape")


def _sequence_type(value: "tuple[Any, ...] | list[Any]", depth: int) -> str:
    left, right = "()" if isinstance(value, tuple) else "[]"
    if depth >= _MAX_DEPTH:
        return f"{left}...{right}"
    items = [meta_type_text(item, depth + 1) for item in value[:_MAX_ITEMS]]
    text = ", ".join(items) + _rest(len(value))
    comma = "," if len(value) == 1 and left == "(" else ""
    return f"{left}{text}{comma}{right}"


def _rest(count: int) -> str:
    return f", ... {count - _MAX_ITEMS} more" if count > _MAX_ITEMS else ""
