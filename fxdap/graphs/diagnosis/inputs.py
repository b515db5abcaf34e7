"""Missing and surplus inputs of a run, and inputs by keyword."""

import re
from typing import Any

from torch.fx import Graph, Interpreter

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence

_LIFTED = re.compile(r"(p|b|c)_")


def check(evidence: Evidence) -> Diagnosis | None:
    """Compare what was given with the placeholders."""
    return _missing(evidence) or _boxed(evidence) or _keyword(evidence)


def _missing(evidence: Evidence) -> Diagnosis | None:
    call = evidence.call_of(Interpreter.placeholder)
    if call is None or call is not evidence.last or evidence.interpreter is None:
        return None
    if not str(evidence.error).startswith("Expected positional argument for parameter"):
        return None
    graph = evidence.interpreter.graph
    run = evidence.call_of(Interpreter.run)
    given = run.locals.get("args") if run is not None else _given(evidence)
    name = str(call.locals.get("target"))
    count = f"; run was given {len(given)}" if isinstance(given, tuple) else ""
    return Diagnosis(f"{_takes(graph)}{count}: {name!r} is missing", _cure(graph, name), name)


def _given(evidence: Evidence) -> Any:
    """A stopped run is not in the error's traceback yet; its iterator knows how many it gave."""
    graph = evidence.graph
    node = evidence.node
    if graph is None or node is None:
        return None
    inputs = [n for n in graph.nodes if n.op == "placeholder"]
    return tuple(inputs[: inputs.index(node)]) if node in inputs else None


def _boxed(evidence: Evidence) -> Diagnosis | None:
    call = evidence.call_of(Interpreter.boxed_run)
    found = re.match(r"Interpreter\.boxed_run expected \d+ .* received (\d+)", str(evidence.error))
    if call is None or found is None:
        return None
    graph = call.locals["self"].graph
    return Diagnosis(
        f"{_takes(graph)}; boxed_run was given {found[1]}",
        "give a list with one value per placeholder, in order; boxed_run neither flattens inputs "
        "nor uses default values",
    )


def _keyword(evidence: Evidence) -> Diagnosis | None:
    found = re.match(
        r"(?:Interpreter\.)?(?:boxed_)?run\(\) got an unexpected keyword argument '(\w+)'",
        str(evidence.error),
    )
    if not isinstance(evidence.error, TypeError) or found is None:
        return None
    return Diagnosis(
        f"Interpreter.run takes the graph's inputs by position only; {found[1]!r} was given by "
        f"keyword",
        "give the inputs in the order of the graph's placeholders",
    )


def _takes(graph: Graph) -> str:
    names = [str(node.target) for node in graph.nodes if node.op == "placeholder"]
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"the graph takes {len(names)} input{'s' if len(names) != 1 else ''} ({shown})"


def _cure(graph: Graph, name: str) -> str:
    if any(_LIFTED.match(node.name) for node in graph.nodes if node.op == "placeholder"):
        return (
            "an exported program's graph_module takes its parameters and buffers as inputs, in the "
            "order of graph_signature; run program.module() instead, which holds them"
        )
    return f"pass a value for {name!r}, in the order of the placeholders"
