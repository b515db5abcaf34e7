"""Which of a graph's inputs and attributes are parameters, buffers, constants or the user's."""

import re
import weakref
from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

INPUTS, PARAMETERS, BUFFERS, CONSTANTS = "inputs", "parameters", "buffers", "constants"
GRAPHS, TOKENS = "graphs", "effect tokens"
KINDS = (INPUTS, PARAMETERS, BUFFERS, CONSTANTS, GRAPHS, TOKENS)

# Dynamo names its inputs after the path to them.
_DYNAMO = re.compile(r"^[lg]_.*_(parameters|buffers)_")
_DESCRIBED = {"ParamAOTInput": PARAMETERS, "BufferAOTInput": BUFFERS}

_signatures: weakref.WeakKeyDictionary[Graph, Mapping[str, str]] = weakref.WeakKeyDictionary()


def remember_signature(graph: Graph, kinds: Mapping[str, str]) -> None:
    """Note the kinds of a graph's placeholders, by name, beside a graph that does not tell."""
    _signatures[graph] = kinds


def input_kind(module: Any, node: Node) -> str:
    """The kind of a placeholder or get_attr node of a graph over `module`."""
    return _placeholder_kind(node) if node.op == "placeholder" else _attribute_kind(module, node)


def _placeholder_kind(node: Node) -> str:
    known = _signatures.get(node.graph, {}).get(node.name)
    if known is not None:
        return known
    described = node.meta.get("desc")
    while described is not None:
        kind = _DESCRIBED.get(type(described).__name__)
        if kind is not None:
            return kind
        described = getattr(described, "base", None)
    found = _DYNAMO.match(str(node.target))
    return found[1] if found else INPUTS


def _attribute_kind(module: Any, node: Node) -> str:
    owner: Any = module
    *path, name = str(node.target).split(".")
    for atom in path:
        owner = getattr(owner, atom, None)
    value = getattr(owner, name, None)
    if isinstance(value, GraphModule):
        return GRAPHS
    if type(value) is not torch.Tensor and isinstance(value, torch.nn.Parameter):
        return PARAMETERS
    buffers = vars(owner).get("_buffers") if isinstance(owner, torch.nn.Module) else None
    return BUFFERS if buffers and name in buffers else CONSTANTS
