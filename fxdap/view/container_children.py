"""What a container shows when it is opened, page by page where it may be long."""

import dataclasses
from collections import deque
from functools import partial
from typing import Any

from fxdap.view.child import Child, Children, attempt, attribute, item, page
from fxdap.view.summary import summarize

# VS Code pages indexed children only: a longer dict is shown by position.
MAX_NAMED = 100
DICT_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_LITERAL_KEYS = (str, int, bool, type(None))


def sequence_children(value: Any) -> Children:
    """A list, tuple, set, deque or range."""
    names = _field_names(type(value))
    if names is not None:
        pairs = zip(names, tuple.__iter__(value), strict=False)
        return Children([attribute(name, part, "data") for name, part in pairs])
    return Children(indexed=len(value))


def sequence_items(value: Any, start: int, count: int) -> list[Child]:
    indexable = isinstance(value, (list, tuple, range, deque))
    sliceable = isinstance(value, (list, tuple, range))
    values = value[start : start + count] if sliceable else page(value, start, count)
    return [
        Child(f"[{i}]", part, f"[{i}]" if indexable else None, kind="data")
        for i, part in enumerate(values, start)
    ]


def count_sequence(value: Any) -> tuple[int, int]:
    names = _field_names(type(value))
    return (len(names), 0) if names is not None else (0, len(value))


def _field_names(cls: type) -> tuple[str, ...] | None:
    fields = getattr(cls, "_fields", None)
    if fields is None and hasattr(cls, "n_sequence_fields"):
        fields = getattr(cls, "__match_args__", None)
    return fields if issubclass(cls, tuple) and fields else None


def dict_children(value: Any) -> Children:
    length = dict.__len__(value)
    if length > MAX_NAMED:
        return Children(indexed=length)
    is_output = dataclasses.is_dataclass(type(value))
    make = attribute if is_output else _entry
    return Children([make(key, part) for key, part in list(dict.items(value))])


def count_dict(value: Any) -> tuple[int, int]:
    length = dict.__len__(value)
    return (0, length) if length > MAX_NAMED else (length, 0)


def dict_items(value: Any, start: int, count: int) -> list[Child]:
    return [_entry(key, part) for key, part in page(dict.items(value), start, count)]


def _entry(key: Any, part: object) -> Child:
    if type(key) in _LITERAL_KEYS:
        return item(repr(key), part)
    return Child(summarize(key), part, kind="data")


def dataclass_children(value: Any) -> list[Child]:
    names = [field.name for field in dataclasses.fields(value)]
    return [attribute(name, attempt(partial(getattr, value, name)), "data") for name in names]
