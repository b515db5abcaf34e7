"""Arguments of nodes as Python, with variables in place of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx import Node

if TYPE_CHECKING:
    from fxdap.graphs.repro.literals import Literals

_TAKEN = {"torch", "base64", "io", "zlib", "sys", "operator", "math", "tensor", "loaded", "put"}


def variable(node: Node) -> str:
    """The variable that holds a node's value."""
    return f"{node.name}_" if node.name in _TAKEN else node.name


def argument_text(value: Any, literals: Literals) -> str:
    """An argument as written in a call."""
    if isinstance(value, Node):
        return variable(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        items = ", ".join(argument_text(v, literals) for v in value)
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, list):
        return f"[{', '.join(argument_text(v, literals) for v in value)}]"
    if isinstance(value, dict):
        pairs = (f"{k!r}: {argument_text(v, literals)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, slice):
        parts = (argument_text(v, literals) for v in (value.start, value.stop, value.step))
        return f"slice({', '.join(parts)})"
    return literals.of(value)
