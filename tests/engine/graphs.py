"""Small graphs that several test modules step through."""

from typing import Any

import torch
from torch import fx, nn


def chain(length: int = 4) -> fx.GraphModule:
    """x, then n0, n1, ...: each adds one; then output."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for i in range(length):
        value = graph.create_node("call_function", torch.add, (value, 1), name=f"n{i}")
    graph.output(value)
    return fx.GraphModule(nn.Module(), graph, "Chain")


def calling(function: Any, name: str = "called") -> fx.GraphModule:
    """x, then one node that calls `function`, then `neg`; then output."""
    graph = fx.Graph()
    called = graph.create_node("call_function", function, (graph.placeholder("x"),), name=name)
    graph.output(graph.create_node("call_function", torch.neg, (called,), name="neg"))
    return fx.GraphModule(nn.Module(), graph, "Calling")
