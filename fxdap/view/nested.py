"""The graphs inside a graph: bodies of higher-order ops and calls of graph modules."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch.fx import Graph, Node


@dataclass(frozen=True, slots=True)
class NestedGraph:
    """A graph module that a node of an outer graph uses; `path` leads to it from the root."""

    path: str
    module: Any
    graph: Graph
    user: Node
    depth: int


def nested_graphs(module: Any, graph: Graph) -> tuple[NestedGraph, ...]:
    """Every graph inside `graph`, outer before inner, in order of first use.

    A module reached by two paths appears once, under the first.
    """
    seen = {id(module)}
    return tuple(_walk(module, graph, "", 1, seen))


def _walk(
    module: Any, graph: Graph, prefix: str, depth: int, seen: set[int]
) -> Iterator[NestedGraph]:
    for node in graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        inner = graph_used_by(module, node)
        if inner is None or id(inner) in seen:
            continue
        seen.add(id(inner))
        path = f"{prefix}{node.target}"
        user = _user_of(node)
        yield NestedGraph(path=path, module=inner, graph=inner.graph, user=user, depth=depth)
        yield from _walk(inner, inner.graph, f"{path}.", depth + 1, seen)


def graph_used_by(module: Any, node: Node) -> Any:
    """The graph module that a call_module or get_attr node names, or None."""
    value = module
    for atom in str(node.target).split("."):
        value = getattr(value, atom, None)
        if value is None:
            return None
    # A module made by torch.export.unflatten has a graph too, without being a GraphModule.
    return value if isinstance(getattr(value, "graph", None), Graph) else None


def _user_of(node: Node) -> Node:
    """The higher-order op that a fetched body is given to, else the node itself."""
    if node.op == "get_attr" and node.users:
        return next(iter(node.users))
    return node
