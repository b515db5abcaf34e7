"""Dynamic shapes: what a node's metadata leaves open, together with what a run bound it to."""

import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node

from fxdap.view.quiet import quiet
from fxdap.view.type_text import tensor_type

_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)
Sizes = tuple[str, ...]

_known: weakref.WeakKeyDictionary[Node, tuple[object, Sizes | str | None]]
_known = weakref.WeakKeyDictionary()


def with_symbols(text: str, node: Node, value: Any) -> str:
    """A value's line with its symbols: `f32[s0=7, 16] cpu`, `s0 = 7`, `True  s0 > 2`."""
    recorded = _recorded(node)
    if recorded is None:
        return text
    if isinstance(recorded, str):
        if type(value) is bool:
            return f"{text}  {recorded}"
        return f"{recorded} = {text}" if type(value) in (int, float) else text
    if not isinstance(value, torch.Tensor):
        return text
    with quiet():
        found = tensor_type(value)
        sizes = [str(size) for size in value.shape] if value.layout is torch.strided else []
    if len(sizes) != len(recorded) or not text.startswith(found):
        return text
    pairs = zip(recorded, sizes, strict=True)
    shape = ", ".join(
        size if symbol in ("", size) else f"{symbol}={size}" for symbol, size in pairs
    )
    return f"{found.partition('[')[0]}[{shape}]{text.removeprefix(found)}"


def has_symbols(node: Node) -> bool:
    """Whether a node's metadata leaves something open."""
    return _recorded(node) is not None


def bound_symbols(node: Node, value: Any) -> Iterator[tuple[str, int]]:
    """The symbols that a node's value alone gives their numbers: `s0`, not `2*s0`."""
    recorded = _recorded(node)
    if isinstance(recorded, str):
        if recorded.isalnum() and type(value) is int:
            yield recorded, value
    elif recorded is not None and type(value) is torch.Tensor and value.dim() == len(recorded):
        for symbol, size in zip(recorded, value.shape, strict=True):
            if symbol.isalnum():
                yield symbol, size


def _recorded(node: Node) -> Sizes | str | None:
    """The expression of a number, or those of a tensor's open sizes; None for what has none."""
    example = node.meta.get("val", node.meta.get("example_value"))
    known = _known.get(node)
    if known is None or known[0] != id(example):
        known = _known[node] = (id(example), _expressions(example))
    return known[1]


def _expressions(example: Any) -> Sizes | str | None:
    if isinstance(example, _SYMBOLS):
        return str(example.node)
    if not isinstance(example, torch.Tensor):
        return None
    try:
        sizes = tuple("" if type(size) is int else str(size) for size in example.shape)
    except Exception:  # a subclass that has no shape to tell
        return None
    return sizes if any(sizes) else None
