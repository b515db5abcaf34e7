"""Which nodes a script repeats: one, or those between given nodes and it."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch._ops import OpOverload
from torch.fx import Graph, Node

from fxdap.graphs.repro.errors import ReproError


@dataclass(frozen=True)
class Slice:
    """The nodes to repeat, in order, the last one being the point; and what they read."""

    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]

    @property
    def at(self) -> Node:
        return self.nodes[-1]


def slice_of(graph: Graph, at: str, starts: Sequence[str]) -> Slice:
    """The node `at`, with everything that leads from `starts` to it. ReproError names a mistake."""
    order = list(graph.nodes)
    end = _named(order, at)
    if end.op == "placeholder":
        raise ReproError(f"%{at} is an input: there is nothing to repeat")
    begins = {_named(order, name) for name in starts}
    ancestors = _ancestors(end)
    for begin in begins - ancestors:
        raise ReproError(f"%{at} does not depend on %{begin.name}")
    wanted = _reached(order, begins, ancestors) | {end}
    nodes = [n for n in order[: order.index(end) + 1] if n in wanted or _writes_in(n, wanted)]
    nodes = nodes[: nodes.index(end) + 1]
    chosen = set(nodes)
    read = {source for node in nodes for source in node.all_input_nodes} - chosen
    return Slice(tuple(nodes), tuple(n for n in order if n in read))


def _named(order: list[Node], name: str) -> Node:
    found = next((node for node in order if node.name == name.removeprefix("%")), None)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [node.name for node in order], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ReproError(f"the graph has no node {name!r}{hint}")
    return found


def _ancestors(end: Node) -> set[Node]:
    found, todo = {end}, [end]
    while todo:
        fresh = [source for source in todo.pop().all_input_nodes if source not in found]
        found.update(fresh)
        todo += fresh
    return found


def _reached(order: list[Node], begins: set[Node], ancestors: set[Node]) -> set[Node]:
    """The nodes that `begins` lead to on the way to the end; what was given stays an input."""
    reached = set(begins)
    for node in order:
        if node in ancestors and any(source in reached for source in node.all_input_nodes):
            reached.add(node)
    return {node for node in reached if node.op not in ("placeholder", "get_attr")}


def _writes_in(node: Node, wanted: set[Node]) -> bool:
    """Whether a node writes into a value of the slice without being on the way itself."""
    if not any(source in wanted for source in node.all_input_nodes):
        return False
    if isinstance(node.target, OpOverload):
        return node.target._schema.is_mutable
    name = str(node.target if node.op == "call_method" else getattr(node.target, "__name__", ""))
    return (name.endswith("_") and not name.endswith("__")) or name == "setitem"
