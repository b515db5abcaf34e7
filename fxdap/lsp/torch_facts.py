"""`python -m fxdap.lsp.torch_facts`: says what torch knows of a target, one JSON line for each.

The language server starts it when the first target is asked about; nothing else here loads torch.
"""

import builtins
import importlib
import inspect
import json
import math
import operator
import sys
from typing import Any

import torch

_ROOTS = {"torch": torch, "operator": operator, "math": math}
_PYTHON_DOCS = "https://docs.python.org/3/library"
_TORCH_DOCS = "https://docs.pytorch.org/docs/stable"
_NAMESPACES = ("torch", "torch.nn.functional", "torch.Tensor", "torch.linalg")
_MAX_SCHEMAS = 4


def facts_of(target: str) -> dict[str, Any]:
    """Schema, documentation page and Python source of a target as listings print it."""
    value = find(target)
    if value is None:
        return {}
    file, line = _source(value)
    facts = {"schema": _schema(value, target), "url": _page(value, target)}
    return {**facts, "file": file, "line": line}


def find(target: str) -> Any:
    """The callable of that name, None for one that is not torch's or Python's own."""
    if target.startswith("."):
        return getattr(torch.Tensor, target[1:], None)
    first, _, rest = target.partition(".")
    if not rest:
        return getattr(builtins, first, None) or _operator("higher_order", first)
    if first in _ROOTS:
        return _attribute(_ROOTS[first], rest)
    return _operator(first, rest)


def _attribute(value: Any, path: str) -> Any:
    for name in path.split("."):
        inner = getattr(value, name, None)
        if inner is None and inspect.ismodule(value) and value.__name__.startswith("torch"):
            try:
                inner = importlib.import_module(f"{value.__name__}.{name}")
            except ImportError:
                return None
        value = inner
    return value


def _operator(namespace: str, path: str) -> Any:
    try:
        return _attribute(getattr(torch.ops, namespace), path)
    except AttributeError:
        return None


def _schema(value: Any, target: str) -> str:
    if isinstance(value, torch._ops.OpOverload):
        return str(value._schema)
    if isinstance(value, torch._ops.OpOverloadPacket):
        overloads = _overloads(value)
        text = "\n".join(str(getattr(value, name)._schema) for name in overloads[:_MAX_SCHEMAS])
        hidden = len(overloads) - _MAX_SCHEMAS
        return text if hidden <= 0 else f"{text}\n# {hidden} more overloads"
    name = target.rpartition(".")[2]
    try:
        return f"{name}{inspect.signature(value)}"
    except (TypeError, ValueError):
        first = (inspect.getdoc(value) or "").split("\n", 1)[0]
        return first if first.startswith(f"{name}(") else ""


def _overloads(packet: Any) -> list[str]:
    names: list[str] = packet.overloads()
    return names


def _page(value: Any, target: str) -> str:
    first, _, rest = target.partition(".")
    if first in ("operator", "math"):
        return f"{_PYTHON_DOCS}/{first}.html#{first}.{rest}"
    if isinstance(value, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return _operator_page(value)
    if first and not rest:
        if getattr(builtins, first, None) is value:
            return f"{_PYTHON_DOCS}/functions.html#{first}"
        return _generated("torch", first)
    namespace, _, name = target.rpartition(".")
    return _generated(namespace or "torch.Tensor", name) or _page_named(name)


def _page_named(name: str) -> str:
    pages = (_generated(namespace, name) for namespace in _NAMESPACES)
    return next(filter(None, pages), "")


def _operator_page(value: Any) -> str:
    packet = value.overloadpacket if isinstance(value, torch._ops.OpOverload) else value
    page = _page_named(packet.__name__)
    if page:
        return page
    tags = getattr(value, "tags", ())
    return f"{_TORCH_DOCS}/torch.compiler_ir.html" if torch.Tag.core in tags else ""


def _generated(namespace: str, name: str) -> str:
    """The page of a documented public function; torch makes one for each."""
    if name.startswith("_") or "._" in namespace:
        return ""
    owner = find(namespace) if namespace != "torch" else torch
    value = getattr(owner, name, None)
    if value is None or not inspect.getdoc(value):
        return ""
    return f"{_TORCH_DOCS}/generated/{namespace}.{name}.html"


def _source(value: Any) -> tuple[str, int]:
    """Where it is written in Python: for an operator, its decomposition or reference."""
    for candidate in _implementations(value):
        try:
            file = inspect.getsourcefile(inspect.unwrap(candidate))
            line = inspect.getsourcelines(inspect.unwrap(candidate))[1]
        except (TypeError, OSError):
            continue
        if file is not None:
            return file, line
    return "", 0


def _implementations(value: Any) -> list[Any]:
    if isinstance(value, torch._ops.OpOverload):
        from torch._decomp import decomposition_table

        reference = getattr(torch._refs, value.overloadpacket.__name__, None)
        found = (decomposition_table.get(value), reference)
        return [each for each in found if each is not None]
    if isinstance(value, torch._ops.OpOverloadPacket):
        return _implementations(getattr(value, _overloads(value)[0]))
    if isinstance(value, torch._ops.HigherOrderOperator):
        public = getattr(torch, value.__name__, None)
        return [public] if public is not None else [type(value)]
    return [value]


def main() -> int:
    """Answer until the server closes the pipe."""
    answers = sys.stdout
    # Whatever torch prints while it loads must not look like an answer.
    sys.stdout = sys.stderr
    for line in sys.stdin:
        question = json.loads(line)
        try:
            facts = facts_of(question["target"])
        except Exception as error:
            facts = {"error": repr(error)}
        answers.write(json.dumps({"id": question["id"], **facts}) + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
