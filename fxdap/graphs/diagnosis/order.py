"""Nodes that stand in the wrong order, and the other findings of `Graph.lint`."""

import re
from collections.abc import Iterator

import torch
from torch.fx import Graph, Node

from fxdap.engine.program import Program
from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence, place_in
from fxdap.graphs.diagnosis.missing_values import missing_value
from fxdap.graphs.diagnosis.names import near_target
from fxdap.graphs.naming import graph_title

SHOWN = 5
_ORDER_CURE = (
    "insert nodes before their first reader (with graph.inserting_before(reader): ...) or move "
    "them with reader.prepend(node); graph.lint() checks the order"
)


def check(evidence: Evidence) -> Diagnosis | None:
    """A value read before its node ran, or what `Graph.lint` raised."""
    return _read_too_early(evidence) or _lint(evidence)


def misplaced(graph: Graph) -> Iterator[tuple[Node, Node]]:
    """Readers with the nodes that they read and that stand after them."""
    seen: set[Node] = set()
    for node in graph.nodes:
        for source in node.all_input_nodes:
            if source not in seen and source.graph is graph and not source._erased:
                yield node, source
        seen.add(node)


def _read_too_early(evidence: Evidence) -> Diagnosis | None:
    graph, node, program = evidence.graph, evidence.node, evidence.program
    if graph is None or node is None or program is None:
        return None
    early = list(misplaced(graph))
    own = [source for reader, source in early if reader is node]
    # A run of the user's may have an order of its own; then only a value looked for in vain counts.
    missing = missing_value(evidence)
    if evidence.interpreter is not None and (missing is None or missing[0] not in own):
        return None
    if not own:
        return None
    return Diagnosis(_sentence(program, early), _ORDER_CURE, own[0].name)


def _sentence(program: Program, early: list[tuple[Node, Node]]) -> str:
    places = [
        f"{place_in(program, reader)} reads {place_in(program, source)}, which stands after it"
        for reader, source in early[:SHOWN]
    ]
    more = f"; and {len(early) - SHOWN} more" if len(early) > SHOWN else ""
    return "the graph's nodes are out of order: " + "; ".join(places) + more


def _lint(evidence: Evidence) -> Diagnosis | None:
    call = evidence.call_of(Graph.lint)
    graph = call.locals.get("self") if call is not None else None
    if not isinstance(graph, Graph):
        return None
    module = graph.owning_module or torch.nn.Module()
    text = str(evidence.error)
    if "was used before it has been" in text:
        early = list(misplaced(graph))
        program = Program(module, graph, graph_title(module))
        return Diagnosis(_sentence(program, early), _ORDER_CURE, early[0][1].name)
    found = re.match(r"Node (\S+) target (\S+) references nonexistent attribute (\S+) of", text)
    if found is not None:
        return Diagnosis(
            f"%{found[1]} refers to {found[2]!r}, and the module has no {found[3]!r}",
            near_target(module, found[2]),
            found[1],
        )
    found = re.match(r"Argument '(\S+)' of Node '(\S+)' +does not belong to this Graph", text)
    if found is not None:
        return Diagnosis(
            f"%{found[2]} reads %{found[1]}, which is a node of another graph",
            "copy nodes with graph.node_copy(node, lambda n: new_nodes[n])",
            found[2],
        )
    found = re.match(r"Node redefined name (\S+)!", text)
    if found is not None:
        return Diagnosis(
            f"two nodes are called {found[1]!r}",
            "let the graph name nodes: leave `name` out, or assign node.name instead of _name",
            found[1],
        )
    return None
