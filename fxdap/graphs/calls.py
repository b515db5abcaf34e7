"""What a call of a GraphModule really runs: its graph's code, or something put in its place."""

import math
import re
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import torch
import torch.nn.modules.module as _hooks
from torch.fx import GraphModule, Node
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.graph_module import _WrappedCall

from fxdap.view.compatibility import GENERATED_CODE, names_lines_of_code

EXACT_LIMIT = 1000
"""Nodes up to which generating the code again, to compare it, takes no time worth saving."""

_ASSIGNED = re.compile(r"(?:^|;)\s*([A-Za-z_]\w*)\s*(?::[^=;\n]+)?=(?!=)", re.MULTILINE)

_LINE = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)([^\n]*)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")

_generated: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def runs_its_graph(module: GraphModule) -> bool:
    """Whether calls run code generated from a graph: not a `forward` that the user put there,
    nor what `module.compile()` made.
    """
    if module._compiled_call_impl is not None or "forward" in module.__dict__:
        return False
    if isinstance(module, _LazyGraphModule):
        module.real_recompile()
    forward: Any = type(module).forward
    known = _generated.get(forward)
    if known is None:
        known = _generated[forward] = _is_generated(module, forward)
    return known


def _is_generated(module: GraphModule, forward: Any) -> bool:
    code = getattr(forward, "__code__", None)
    file = str(code.co_filename) if code is not None else ""
    # Dynamo gives its graphs' code the name of the user's file.
    given: object = getattr(module.graph, "_co_fields", {}).get("co_filename")
    return bool(file == given) or file.startswith(GENERATED_CODE)


def is_stale(module: GraphModule) -> bool:
    """Whether the graph was edited after `forward` was generated, so that they differ.

    A large graph is told by the names and numbers that its code has on each node's line: cheap, and
    never wrong when it says yes, but arguments that changed places go unnoticed.
    """
    nodes = module.graph.nodes
    if len(nodes) <= EXACT_LIMIT and not names_lines_of_code():
        return bool(module.graph.python_code("self").src != module._code)
    assigned, lines = set(_ASSIGNED.findall(module._code)), dict(_LINE.findall(module._code))
    return any(
        n.op not in ("placeholder", "output")
        and (n.name not in assigned or not _has_arguments(lines.get(n.name), n))
        for n in nodes
    )


def _has_arguments(line: str | None, node: Node) -> bool:
    """Whether a node's line names its inputs and numbers; what has no line of its own does."""
    if line is None:
        return True
    words = set(_WORD.findall(line))
    return all(source.name in words for source in node.all_input_nodes) and all(
        repr(number) in line for number in _numbers((node.args, node.kwargs))
    )


def _numbers(value: Any) -> Iterator[int | float]:
    if type(value) in (int, float, bool):
        if math.isfinite(value):
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, dict):
        yield from _numbers(tuple(value.values()))
    elif isinstance(value, slice):
        yield from _numbers((value.start, value.stop, value.step))


_own_call: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def has_own_call(wrapped: _WrappedCall, module: GraphModule) -> bool:
    """Whether a subclass of the user's defines `__call__`."""
    if wrapped.cls_call is not None:
        return True
    known = _own_call.get(wrapped.cls)
    if known is None:
        inherited: Any = super(wrapped.cls, module)
        known = inherited.__call__.__func__ is not torch.nn.Module.__call__
        _own_call[wrapped.cls] = known
    return known


def has_hooks(module: torch.nn.Module) -> bool:
    """Whether torch has hooks to call around the module's forward."""
    own = (
        module._backward_hooks
        or module._backward_pre_hooks
        or module._forward_hooks
        or module._forward_pre_hooks
    )
    return bool(
        own
        or _hooks._global_backward_pre_hooks
        or _hooks._global_backward_hooks
        or _hooks._global_forward_hooks
        or _hooks._global_forward_pre_hooks
    )
