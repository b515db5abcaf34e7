"""What modules and other objects show when they are opened."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from fxdap.view.child import (
    MAX_ATTRIBUTES,
    Child,
    Children,
    attempt,
    attribute,
    own_attributes,
    page,
)
from fxdap.view.tensor_statistics import Statistics

_MAX_PROPERTIES = 50
_MODULE_MACHINERY = frozenset(vars(torch.nn.Module())) - {"training"} | {"_graph"}


def module_children(module: Any) -> list[Child]:
    """Parameters, buffers and submodules, as a tree; then the module's own attributes."""
    attributes = vars(module)
    children = [
        Child(name, value, _member(module, table, name), kind="data")
        for table in ("_parameters", "_buffers", "_modules")
        for name, value in (attributes.get(table) or {}).items()
    ]
    if isinstance(module, torch.fx.GraphModule):
        children.append(attribute("graph", attempt(lambda: module.graph)))
        children.append(Child("code", accessor=".code", lazy=lambda: module.code, kind="property"))
    own = [(name, value) for name, value in attributes.items() if name not in _MODULE_MACHINERY]
    return children + _public_first(own[:MAX_ATTRIBUTES])


def _public_first(attributes: list[tuple[str, object]]) -> list[Child]:
    ordered = sorted(attributes, key=lambda pair: pair[0].startswith("_"))
    return [attribute(name, part) for name, part in ordered]


def _member(module: Any, table: str, name: str) -> str:
    if name.isidentifier():
        return f".{name}"
    if isinstance(module, (torch.nn.Sequential, torch.nn.ModuleList)) and name.isdecimal():
        return f"[{name}]"
    return f".{table}[{name!r}]"


def object_children(value: Any) -> list[Child]:
    """Attributes, public ones first; properties are left for the user to ask."""
    return _public_first(own_attributes(value)) + list(_properties(value))


def _properties(value: Any) -> Iterator[Child]:
    """User code behind each of these: it runs when the user opens one, not before."""
    names = {
        name: None
        for cls in type(value).__mro__
        for name, member in vars(cls).items()
        if isinstance(member, property) and not name.startswith("_")
    }
    for name in list(names)[:_MAX_PROPERTIES]:
        yield Child(name, None, f".{name}", lazy=partial(getattr, value, name), kind="property")


def node_children(node: torch.fx.Node) -> list[Child]:
    names = ("name", "op", "target", "args", "kwargs", "type", "users", "meta")
    return [attribute(name, getattr(node, name)) for name in names]


def exception_children(error: Any) -> list[Child]:
    names = ("args", "__cause__", "__context__", "__notes__")
    parts = ((name, getattr(error, name, None)) for name in names)
    shown = [attribute(name, part) for name, part in parts if name == "args" or part]
    return shown + object_children(error)


def partial_children(value: Any) -> list[Child]:
    return [attribute(name, getattr(value, name)) for name in ("func", "args", "keywords")]


def method_children(value: Any) -> list[Child]:
    return [attribute("__self__", value.__self__), attribute("__func__", value.__func__)]


def symbolic_children(value: Any) -> list[Child]:
    node = value.node
    return [
        attribute("expression", str(node), "virtual"),
        attribute("hint", getattr(node, "hint", None), "virtual"),
    ]


def storage_children(value: Any) -> list[Child]:
    return [
        Child("nbytes", value.nbytes(), ".nbytes()", kind="property"),
        attribute("device", value.device),
        # Lazy: the address of a lazily cloned storage exists only once it is copied.
        Child("data_ptr", lazy=lambda: hex(value.data_ptr()), kind="property"),
    ]


def statistics_children(value: Statistics) -> list[Child]:
    return [Child(name, part, kind="virtual") for name, part in value.shown()]


def graph_children(graph: torch.fx.Graph) -> Children:
    return Children([attribute("owning_module", graph.owning_module)], len(graph.nodes))


def graph_items(graph: torch.fx.Graph, start: int, count: int) -> list[Child]:
    return [Child(node.name, node, kind="data") for node in page(graph.nodes, start, count)]
