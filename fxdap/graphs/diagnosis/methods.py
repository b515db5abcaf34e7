"""Methods and attributes that torch's Interpreter does not have."""

import dis
import re
from difflib import get_close_matches
from typing import Any

from torch.fx import Interpreter

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence, code_of

_HOOKS = (
    "override run_node(self, n), which is called for every node, or derive from "
    "fxdap.Interpreter, which has register_node_pre_hook and register_node_post_hook"
)
_HOOK_METHOD = re.compile(r"(register|add|remove)_\w*hook")
_VALUES = (
    "values are in interpreter.env, by Node; pass garbage_collect_values=False to keep them all "
    "until the end, or derive from fxdap.Interpreter"
)
_INVENTED = {
    "node_values": _VALUES,
    "values": _VALUES,
    "node_outputs": _VALUES,
    "call_op": "override call_function, call_method or call_module, one per opcode",
    "execute_node": "the method is run_node(n)",
    "execute": "the method is run(*args)",
    "forward": "the method is run(*args)",
}
_ATTRIBUTES = ("env", "graph", "module", "submodules", "garbage_collect_values", "name")
_REAL = (*(name for name in dir(Interpreter) if not name.startswith("_")), *_ATTRIBUTES)


def check(evidence: Evidence) -> Diagnosis | None:
    """An AttributeError about an Interpreter, for a name near one of torch's or often invented."""
    error = evidence.error
    if not isinstance(error, AttributeError) or not isinstance(error.name, str):
        return None
    if _sets(type(error.obj), error.name):
        return None
    candidates = _candidates(error.obj)
    cure = _cure(error.name, candidates) if candidates else None
    if cure is None:
        return None
    return Diagnosis(f"torch.fx.Interpreter has no {error.name!r}", cure)


def _candidates(owner: Any) -> list[str]:
    """The names that an Interpreter, its class, or its `super()` has; none for other objects."""
    if isinstance(owner, super):
        return dir(Interpreter) if isinstance(_self_of(owner), Interpreter) else []
    is_class = isinstance(owner, type) and issubclass(owner, Interpreter)
    return dir(owner) if is_class or isinstance(owner, Interpreter) else []


def _sets(cls: type, name: str) -> bool:
    """Whether a method of the user's class assigns the attribute, so that it is their own."""
    return any(
        step.opname == "STORE_ATTR" and step.argval == name
        for owner in cls.__mro__
        for function in vars(owner).values()
        if (code := code_of(function)) is not None
        for step in dis.get_instructions(code)
    )


def _self_of(owner: Any) -> Any:
    return owner.__self__


def _cure(name: str, candidates: list[str]) -> str | None:
    if _HOOK_METHOD.match(name):
        return _HOOKS
    if name in _INVENTED:
        return _INVENTED[name]
    near = get_close_matches(name, candidates, n=1, cutoff=0.7)
    if not near or near[0] not in _REAL:
        return None
    return f"the nearest real name is {near[0]!r}"
