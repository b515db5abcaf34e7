"""`map_nodes_to_values` overridden or called as a store, on torch's Interpreter."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from torch.fx import Interpreter, Node

from fxdap.graphs.conventions import stores_values
from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence, code_of

_ARGUMENTS_EXPECTED = re.compile(r"Expected (args to be tuple|kwargs to be dict), got ")


def check(evidence: Evidence) -> Diagnosis | None:
    """The two ways it breaks: torch calls the override, or the override calls torch's."""
    return _called_by_torch(evidence) or _calls_torchs(evidence)


def _called_by_torch(evidence: Evidence) -> Diagnosis | None:
    call = evidence.call_of(Interpreter.fetch_args_kwargs_from_env)
    if call is None or not isinstance(call.locals.get("self"), Interpreter):
        return None
    cls, node = type(call.locals["self"]), call.locals.get("n")
    override = cls.map_nodes_to_values
    if override is Interpreter.map_nodes_to_values or not isinstance(node, Node):
        return None
    inside = any(c.code is code_of(override) for c in evidence.after(call))
    if inside and stores_values(override):
        happened = f"given %{node.name}'s arguments it raised {type(evidence.error).__name__}"
    elif call is evidence.last and _ARGUMENTS_EXPECTED.match(str(evidence.error)):
        happened = f"for %{node.name} it returned something else ({_returned(evidence.error)})"
    else:
        return None
    return Diagnosis(
        f"{_signature(override, cls.__name__)} overrides a method that torch calls before every "
        f"node, as {_signature(Interpreter.map_nodes_to_values, 'Interpreter')}, to get the "
        f"node's arguments with values in place of Nodes; {happened}",
        f"to store what nodes gave, derive {cls.__name__} from fxdap.Interpreter, which takes "
        f"(node, value) too, or give the method another name",
        node.name,
    )


def _returned(error: BaseException) -> str:
    found = re.search(r"got <class '(.+?)'>", str(error))
    return found[1].replace("NoneType", "None") if found else "no tuple"


def _calls_torchs(evidence: Evidence) -> Diagnosis | None:
    call = evidence.call_of(Interpreter.map_nodes_to_values)
    if call is None:
        return None
    node, value = call.locals.get("args"), call.locals.get("n")
    if not isinstance(node, Node) or isinstance(value, Node):
        return None
    return Diagnosis(
        f"torch's {_signature(Interpreter.map_nodes_to_values, 'Interpreter')} was called with a "
        f"node (%{node.name}) and a value ({type(value).__name__}); it stores nothing: it looks "
        f"%{node.name} up, which has no value yet",
        f"run() itself stores what run_node returns, in self.env[{node.name}]; for a store of "
        f"your own assign to a dict, or derive from fxdap.Interpreter, where the call stores",
        node.name,
    )


def _signature(function: Callable[..., Any], owner: str) -> str:
    parameters = ", ".join(inspect.signature(function).parameters)
    return f"{owner}.{function.__name__}({parameters})"
