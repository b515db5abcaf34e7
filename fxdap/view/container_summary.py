"""Lines of containers: only the items that fit are rendered, whatever the container's size."""

import collections
import dataclasses
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from fxdap.view.rendering import Context, Formatter, joined
from fxdap.view.target_text import class_name

# No line has room for more items, so no more are taken from a container.
_MAX_TAKEN = 200


def list_line(value: Any, context: Context) -> str:
    text = f"[{_items(list.__iter__(value), list.__len__(value), context)}]"
    return text if _is_plain(type(value)) else f"{type(value).__name__}({text})"


def tuple_line(value: Any, context: Context) -> str:
    cls, length = type(value), tuple.__len__(value)
    names = getattr(cls, "_fields", None) or _structseq_names(cls)
    if names is not None:
        items = zip(names, tuple.__iter__(value), strict=False)
        return f"{cls.__name__}({_named(items, length, context)})"
    items_text = _items(tuple.__iter__(value), length, context)
    if cls is not tuple and not _is_plain(cls):
        return f"{class_name(cls)}([{items_text}])"
    return f"({items_text}{',' if length == 1 else ''})"


def _structseq_names(cls: type) -> tuple[str, ...] | None:
    """Field names of what torch.max(x, 0) and its like return."""
    return getattr(cls, "__match_args__", None) if hasattr(cls, "n_sequence_fields") else None


def set_line(value: Any, context: Context) -> str:
    name = "" if type(value) is set else type(value).__name__
    base = set if issubclass(type(value), set) else frozenset
    length = base.__len__(value)
    if not length:
        return f"{name or 'set'}()"
    text = f"{{{_items(base.__iter__(value), length, context)}}}"
    return f"{name}({text})" if name else text


def iterable_line(value: Any, context: Context) -> str:
    """A deque or a dict view: sized, and iterated by its own C code."""
    return f"{type(value).__name__}([{_items(iter(value), len(value), context)}])"


def dict_line(value: Any, context: Context) -> str:
    cls, length = type(value), dict.__len__(value)
    pairs = list(islice(dict.items(value), _MAX_TAKEN))
    if dataclasses.is_dataclass(cls):
        return f"{cls.__name__}({_named(pairs, length, context)})"
    if context.is_deepest and length:
        text = "{...}"
    else:
        pieces = (f"{context.inner(key)}: {context.inner(item)}" for key, item in pairs)
        text = f"{{{joined(pieces, length, context.room)}}}"
    return text if _is_plain(cls) else f"{cls.__name__}({text})"


def mapping_proxy_line(value: Any, context: Context) -> str:
    return f"mappingproxy({dict_line(dict(islice(value.items(), _MAX_TAKEN)), context)})"


def dataclass_line(value: Any, context: Context) -> str:
    names = [field.name for field in dataclasses.fields(value)]
    attributes = vars(value) if hasattr(value, "__dict__") else {}
    pairs = ((n, attributes[n] if n in attributes else getattr(value, n, ...)) for n in names)
    return f"{type(value).__name__}({_named(pairs, len(names), context)})"


def namespace_line(value: Any, context: Context) -> str:
    attributes = vars(value)
    pairs = list(islice(attributes.items(), _MAX_TAKEN))
    return f"{type(value).__name__}({_named(pairs, len(attributes), context)})"


def _items(values: Iterator[Any], length: int, context: Context) -> str:
    if context.is_deepest and length:
        return "..."
    taken = list(islice(values, _MAX_TAKEN))
    return joined(map(context.inner, taken), length, context.room)


def _named(pairs: Iterable[tuple[Any, Any]], length: int, context: Context) -> str:
    if context.is_deepest and length:
        return "..."
    return joined((f"{key}={context.inner(item)}" for key, item in pairs), length, context.room)


def _is_plain(cls: type) -> bool:
    """Classes that print as the builtin they stand for; fx makes its own for arguments."""
    return cls in (list, tuple, dict) or cls.__module__ == "torch.fx.immutable_collections"


CONTAINERS: tuple[tuple[type, Formatter], ...] = (
    (dict, dict_line),
    (list, list_line),
    (tuple, tuple_line),
    (set, set_line),
    (frozenset, set_line),
    (collections.deque, iterable_line),
    (type({}.keys()), iterable_line),
    (type({}.values()), iterable_line),
    (type({}.items()), iterable_line),
    (type(type.__dict__), mapping_proxy_line),
)
