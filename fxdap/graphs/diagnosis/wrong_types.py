"""Wrong types passed: a name for a Node, a Graph for its module, a Node for its value."""

import re

from torch.fx import Graph, Interpreter, Node

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence

_NODE_REFUSED = re.compile(r"\bnot (an? )?Node\b|'Node' and|and 'Node'|type Node\b|Node object")


def check(evidence: Evidence) -> Diagnosis | None:
    """Try each of them."""
    return (
        _name_given(evidence)
        or _name_as_key(evidence)
        or _no_graph_module(evidence)
        or _node_as_value(evidence)
    )


def _name_given(evidence: Evidence) -> Diagnosis | None:
    takes_node = (Interpreter.run_node, Interpreter.fetch_args_kwargs_from_env)
    for method in takes_node:
        call = evidence.call_of(method)
        name = call.locals.get("n") if call is not None else None
        if isinstance(name, str):
            return Diagnosis(
                f"{method.__name__} takes a Node and was given the name {name!r}",
                _by_name(evidence, name),
                name,
            )
    return None


def _by_name(evidence: Evidence, name: str) -> str:
    names = [node.name for node in evidence.graph.nodes] if evidence.graph is not None else []
    if name not in names:
        return f"pass the Node itself; the graph has no node {name!r} either"
    return f"pass the Node: next(n for n in self.graph.nodes if n.name == {name!r})"


def _name_as_key(evidence: Evidence) -> Diagnosis | None:
    error, last = evidence.error, evidence.last
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(key, str) or last is None or evidence.graph is None:
        return None
    if not re.search(r"\.env\[", last.source) or isinstance(last.locals.get("env"), dict):
        return None
    if all(node.name != key for node in evidence.graph.nodes):
        return None
    return Diagnosis(f"env is keyed by Node, not by name: {key!r}", _by_name(evidence, key), key)


def _no_graph_module(evidence: Evidence) -> Diagnosis | None:
    error, call = evidence.error, evidence.call_of(Interpreter.__init__)
    if not isinstance(error, AttributeError) or call is None:
        return None
    if isinstance(error.obj, Graph) and error.name == "named_modules":
        return Diagnosis(
            "Interpreter was given a Graph; it takes the GraphModule that holds the parameters",
            "pass the GraphModule, and the graph beside it if it is another: "
            "Interpreter(module, graph=graph)",
        )
    if error.name == "graph" and error.obj is call.locals.get("module"):
        return Diagnosis(
            f"Interpreter was given a {type(error.obj).__name__}, which has no graph",
            "trace it first: Interpreter(torch.fx.symbolic_trace(module))",
        )
    return None


def _node_as_value(evidence: Evidence) -> Diagnosis | None:
    node = evidence.node
    if node is None or evidence.interpreter is None or not isinstance(evidence.error, TypeError):
        return None
    if not _NODE_REFUSED.search(str(evidence.error)):
        return None
    for source in node.all_input_nodes:
        if isinstance(evidence.value(source), Node):
            return Diagnosis(
                f"the value of %{source.name}, which %{node.name} reads, is a Node: "
                f"{evidence.class_name} returned or stored a Node instead of its value",
                "return what super().run_node(n) returned",
                source.name,
            )
    return None
