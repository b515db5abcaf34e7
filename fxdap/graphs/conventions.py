"""What an override of `map_nodes_to_values` takes the method for: a lookup, or a store.

torch calls it with `(args, node)` to look arguments up. Some documents describe it as
`(node, value)`, a store of what nodes gave; overrides written for that are told by their
parameters.
"""

import inspect
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from torch.fx import Node

_NODES = {"n", "node", "nodes", "fx_node"}
_known: WeakKeyDictionary[Callable[..., Any], bool] = WeakKeyDictionary()


def stores_values(function: Callable[..., Any]) -> bool:
    """Whether `function(self, first, second)` takes a node and its value; False when unsure."""
    known = _known.get(function)
    if known is None:
        known = _known[function] = _reads_as_store(function)
    return known


def _reads_as_store(function: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 3:
        return False
    _, first, second = positional[:3]
    return _is_node(first) and not _is_node(second)


def _is_node(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    if annotation not in (inspect.Parameter.empty, Any, object, "Any", "object"):
        if isinstance(annotation, str):
            return annotation.strip("'\" ").rpartition(".")[2] == "Node"
        return annotation is Node
    return parameter.name in _NODES or parameter.name.endswith("_node")
