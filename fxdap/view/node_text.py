"""One node as one line of text: `%chunk: (f32[1, 2], f32[1, 2]) = .chunk(%add_1, 2, -1)`."""

import enum
import re
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from fxdap.view.input_names import input_name
from fxdap.view.target_text import callable_name, class_name, target_name, target_names
from fxdap.view.type_text import tensor_type, type_text

__all__ = ["format_argument", "node_line", "target_name", "target_names", "type_text"]

_MAX_CONSTANT = 80
_MAX_ITEMS = 16
_MAX_DEPTH = 8
_ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-fA-F]+")


def node_line(node: Node) -> str:
    """The node's listing line, without indentation."""
    recorded = type_text(node) if node.op != "output" else ""
    name = f"%{node.name}: {recorded}" if recorded else f"%{node.name}"
    return f"{name} = {_expression(node)}"


def _expression(node: Node) -> str:
    op = node.op
    if op == "output":
        return f"return {', '.join(map(format_argument, node.args))}"
    if op == "placeholder":
        return _placeholder(node)
    if op == "get_attr":
        return f"get_attr {node.target}"
    return f"{target_name(node)}({_arguments(node)})"


def _arguments(node: Node) -> str:
    parts = [format_argument(value) for value in node.args]
    if node.kwargs:
        parts += [f"{key}={format_argument(value)}" for key, value in node.kwargs.items()]
    return ", ".join(parts)


def _placeholder(node: Node) -> str:
    if node.args:
        return f"placeholder({node.target}={format_argument(node.args[0])})"
    name = input_name(node) or node.target
    return "placeholder" if name == node.name else f"placeholder({name})"


def format_argument(value: Any, depth: int = 0) -> str:
    """An argument as Python would spell it, nodes as `%name`, long constants cut short."""
    if isinstance(value, Node):
        return f"%{value.name}"
    formatter = _FORMATTERS.get(type(value))
    if formatter is not None:
        return formatter(value, depth)
    return _format_rare(value, depth)


def _constant(value: Any, depth: int) -> str:
    return _cut(repr(value))


def _plain(value: Any, depth: int) -> str:
    return _cut(str(value))


def _string(value: Any, depth: int) -> str:
    if len(value) <= _MAX_CONSTANT:
        return repr(value)
    return f"{value[:_MAX_CONSTANT]!r}...{len(value) - _MAX_CONSTANT} more"


def _sequence(value: Any, depth: int) -> str:
    left, right = "()" if isinstance(value, tuple) else "[]"
    items = _items(list(value), depth)
    return f"{left}{items}{',' if len(value) == 1 and left == '(' else ''}{right}"


def _set(value: Any, depth: int) -> str:
    # Set order depends on the process's hash seed; the listing may not.
    items = ", ".join(sorted(format_argument(item, depth + 1) for item in value))
    return f"{{{items}}}" if items else f"{type(value).__name__}()"


def _mapping(value: Any, depth: int) -> str:
    if depth >= _MAX_DEPTH:
        return "{...}"
    pairs = [
        f"{format_argument(key, depth + 1)}: {format_argument(item, depth + 1)}"
        for key, item in value.items()
    ]
    return "{" + ", ".join(pairs) + "}"


def _items(values: list[Any], depth: int) -> str:
    if depth >= _MAX_DEPTH and values:
        return "..."
    hidden = 0
    if len(values) > _MAX_ITEMS and not any(map(_holds_node, values[_MAX_ITEMS:])):
        hidden = len(values) - _MAX_ITEMS
        values = values[:_MAX_ITEMS]
    text = ", ".join([format_argument(item, depth + 1) for item in values])
    return f"{text}, ... {hidden} more" if hidden else text


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_node, value))
    if isinstance(value, dict):
        return any(map(_holds_node, value.values()))
    if isinstance(value, slice):
        return any(map(_holds_node, (value.start, value.stop, value.step)))
    return isinstance(value, Node)


def _slice(value: Any, depth: int) -> str:
    parts = (
        [value.start, value.stop] if value.step is None else [value.start, value.stop, value.step]
    )
    return f"slice({', '.join(format_argument(part, depth + 1) for part in parts)})"


def _ellipsis(value: Any, depth: int) -> str:
    return "..."


def _format_rare(value: Any, depth: int) -> str:
    """Everything without a formatter of its own type: subclasses, tensors, objects of any kind."""
    if isinstance(value, torch.Tensor):
        return f"<{tensor_type(value)}>"
    if isinstance(value, torch.nn.Module):
        return f"<{type(value).__name__}>"
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = zip(value._fields, value, strict=False)
        items = ", ".join(f"{key}={format_argument(item, depth + 1)}" for key, item in fields)
        return f"{type(value).__name__}({items})"
    if isinstance(value, (list, tuple)):
        return _sequence(value, depth)
    if isinstance(value, dict):
        return _mapping(value, depth)
    if isinstance(value, type):
        return class_name(value)
    if callable(value):
        return callable_name(value)
    return _foreign(value)


def _foreign(value: Any) -> str:
    try:
        return _cut(_ADDRESS.sub("", " ".join(repr(value).split())))
    except Exception:
        return f"<{type(value).__name__}>"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CONSTANT else f"{text[: _MAX_CONSTANT - 3]}..."


_FORMATTERS: dict[type, Callable[[Any, int], str]] = {
    int: _constant,
    float: _constant,
    bool: _constant,
    complex: _constant,
    type(None): _constant,
    bytes: _constant,
    str: _string,
    tuple: _sequence,
    list: _sequence,
    dict: _mapping,
    set: _set,
    frozenset: _set,
    slice: _slice,
    range: _constant,
    types.EllipsisType: _ellipsis,
    torch.Size: _sequence,
    torch.dtype: _plain,
    torch.device: _plain,
    torch.layout: _plain,
    torch.memory_format: _plain,
    torch.fx.immutable_collections.immutable_list: _sequence,
    torch.fx.immutable_collections.immutable_dict: _mapping,
}
