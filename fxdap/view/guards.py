"""torch.export's `_guards_fn`: the node that checks the inputs, and what it asks of them."""

import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

from torch.fx import Node

NAME = "_guards_fn"
ABOUT = "checks that the inputs are like those of the export; computes nothing"
_PREFIX = "Guard failed: "
_MAX_WRAPPERS = 5


def is_guard(node: Node) -> bool:
    """Whether a node is the check that `ExportedProgram.module()` puts before the graph."""
    return node.op == "call_module" and node.target == NAME


def guard_conditions(module: Any) -> tuple[str, ...]:
    """The conditions that the module's guard checks, such as `x.size()[0] == 2`."""
    forward = getattr(getattr(module, NAME, None), "forward", None)
    texts = [c for code in _codes(forward) for c in code.co_consts if isinstance(c, str)]
    return tuple(t.removeprefix(_PREFIX) for t in texts if t.startswith(_PREFIX))


def _codes(function: Any) -> Iterator[CodeType]:
    """The code of a function and of those that it wraps, as torch wraps its guards."""
    for _ in range(_MAX_WRAPPERS):
        code = getattr(function, "__code__", None)
        if code is None:
            return
        yield code
        inner = inspect.getclosurevars(function).nonlocals
        function = next((inner[name] for name in ("func", "fn") if name in inner), None)
