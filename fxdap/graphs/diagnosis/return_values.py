"""Methods of a user's Interpreter that forget to return a node's value."""

import dis
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from torch.fx import Interpreter, Node

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence, code_of, is_overridden


def check(evidence: Evidence) -> Diagnosis | None:
    """An argument that is None because the method that ran its node returned nothing."""
    node = evidence.node
    if node is None or evidence.interpreter is None or "None" not in str(evidence.error):
        return None
    for source in node.all_input_nodes:
        if evidence.value(source) is None:
            found = forgetful_method(evidence.interpreter, source)
            if found is not None:
                return _diagnosis(evidence, source, node, found)
    return None


def _diagnosis(evidence: Evidence, source: Node, node: Node, method: str) -> Diagnosis:
    function = getattr(type(evidence.interpreter), method)
    code = code_of(function)
    line = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return Diagnosis(
        f"%{source.name}, which %{node.name} reads, is None: {evidence.class_name}.{method}{line} "
        f"ended without `return` for it",
        f"return the value, as in `return super().{method}(...)`, on every path",
        source.name,
    )


def forgetful_method(interpreter: Interpreter, node: Node) -> str | None:
    """The user's method that ran `node` and can end without returning a value."""
    for method in ("run_node", str(node.op)):
        if is_overridden(interpreter, method) and returns_nothing(
            getattr(type(interpreter), method)
        ):
            return method
    return None


def returns_nothing(function: Callable[..., Any]) -> bool:
    """Whether a function has a path on which it returns None, written or not."""
    code = code_of(function)
    return code is not None and any(value is None for value in _constants_returned(code))


def _constants_returned(code: CodeType) -> Iterator[Any]:
    before: dis.Instruction | None = None
    for step in dis.get_instructions(code):
        if step.opname == "RETURN_CONST":
            yield step.argval
        elif step.opname == "RETURN_VALUE" and before is not None and before.opname == "LOAD_CONST":
            yield before.argval
        if step.opname not in ("NOP", "RESUME"):
            before = step
