"""Dynamic shapes: what a node's metadata leaves open, together with what a run bound it to."""

import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from fxdap.view.quiet import quiet
from fxdap.view.type_text import tensor_type

_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the items of a tuple or list leave open; None for an item that leaves nothing."""

    items: "tuple[Open | None, ...]"


Open = str | tuple[str, ...] | Parts
"""The expression of a number, those of a tensor's sizes ("" for a fixed one), or a tuple's."""

_known: weakref.WeakKeyDictionary[Node, tuple[object, Open | None]]
_known = weakref.WeakKeyDictionary()


def left_open(node: Node) -> Open | None:
    """What a node's metadata leaves open; None for most nodes."""
    example = node.meta.get("val", node.meta.get("example_value"))
    known = _known.get(node)
    if known is None or known[0] != id(example):
        known = _known[node] = (id(example), _expressions(example))
    return known[1]


def _expressions(example: Any) -> Open | None:
    if isinstance(example, _SYMBOLS):
        return str(example.node)
    if isinstance(example, (tuple, list)):
        items = tuple(map(_expressions, example))
        return Parts(items) if any(items) else None
    if not isinstance(example, torch.Tensor):
        return None
    try:
        sizes = tuple("" if type(size) is int else str(size) for size in example.shape)
    except Exception:  # a subclass that has no shape to tell
        return None
    return sizes if any(sizes) else None


def part(found: Open | None, index: int) -> Open | None:
    """What an item of a tuple or list leaves open."""
    if isinstance(found, Parts) and index < len(found.items):
        return found.items[index]
    return None


def with_symbols(text: str, found: Open | None, value: Any) -> str:
    """A value's line with its symbols: `f32[s0=7, 16] cpu`, `s0 = 7`, `(f32[s0=7], s0=7)`."""
    if isinstance(found, str):
        if type(value) is bool:
            return f"{text}  {found}"
        return f"{found} = {text}" if type(value) in (int, float) else text
    if isinstance(found, Parts):
        return _in_items(text, found, value)
    if found is None or not isinstance(value, torch.Tensor):
        return text
    plain, both = _types(found, value)
    return both + text.removeprefix(plain) if text.startswith(plain) else text


def _types(found: tuple[str, ...], value: torch.Tensor) -> tuple[str, str]:
    """A tensor's type without and with its symbols."""
    with quiet():
        plain = tensor_type(value)
        sizes = [str(size) for size in value.shape] if value.layout is torch.strided else []
    if len(sizes) != len(found):
        return plain, plain
    pairs = zip(found, sizes, strict=True)
    shape = ", ".join(
        size if symbol in ("", size) else f"{symbol}={size}" for symbol, size in pairs
    )
    return plain, f"{plain.partition('[')[0]}[{shape}]"


def _in_items(text: str, found: Parts, value: Any) -> str:
    """The line of a tuple with the symbols of its items; the line may be cut short."""
    done, rest = "", text
    for plain, both in _pieces(found, value):
        place = re.search(rf"(?<![\w.]){re.escape(plain)}(?![\w.])", rest)
        if place is None:
            break
        done += rest[: place.start()] + both
        rest = rest[place.end() :]
    return done + rest


def _pieces(found: Open | None, value: Any) -> Iterator[tuple[str, str]]:
    """The text of each item in order, without and with its symbols."""
    if isinstance(value, torch.Tensor):
        yield _types(found if isinstance(found, tuple) else (), value)
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _pieces(part(found, index), item)
    else:
        plain = str(value)
        open_number = isinstance(found, str) and type(value) in (int, float) and found != plain
        yield plain, f"{found}={plain}" if open_number else plain


def bound_symbols(found: Open | None, value: Any) -> Iterator[tuple[str, int]]:
    """The symbols that a node's value alone gives their numbers: `s0`, not `2*s0`."""
    if isinstance(found, str):
        if found.isalnum() and type(value) is int:
            yield found, value
    elif isinstance(found, Parts):
        if isinstance(value, (tuple, list)):
            for each, item in zip(found.items, value, strict=False):
                yield from bound_symbols(each, item)
    elif found is not None and type(value) is torch.Tensor and value.dim() == len(found):
        for symbol, size in zip(found, value.shape, strict=True):
            if symbol.isalnum():
                yield symbol, size
