"""The graphs that are measured. Factories without arguments are launch targets as they are."""

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from sample_models import cnn, gpt

Loaded = tuple[fx.GraphModule, tuple[Any, ...]]

CHAIN_OPS: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (torch.relu, ()),
    (operator.add, (0.5,)),
    (torch.neg, ()),
    (operator.mul, (0.75,)),
)


def chain_graph(nodes: int) -> fx.GraphModule:
    """`nodes` tiny operations, one after the other: the worst case for any cost per node."""
    graph = fx.Graph()
    last = graph.placeholder("x")
    for number in range(nodes):
        function, arguments = CHAIN_OPS[number % len(CHAIN_OPS)]
        last = graph.call_function(function, (last, *arguments))
    graph.output(last)
    return fx.GraphModule(torch.nn.Module(), graph, "Chain")


def chain() -> Loaded:
    return chain_graph(1000), (torch.linspace(-1, 1, 8),)


def chain_1500() -> Loaded:
    """Stopped at `relu_250` it has an env of 1000 values, and 500 nodes to step over."""
    return chain_graph(1500), (torch.linspace(-1, 1, 8),)


def chain_20k() -> Loaded:
    return chain_graph(20_000), (torch.linspace(-1, 1, 8),)


def chain_100k() -> Loaded:
    return chain_graph(100_000), (torch.linspace(-1, 1, 8),)


def gpt12() -> Loaded:
    inputs = gpt.example_inputs()
    return torch.export.export(gpt.GPT().eval(), inputs).module(), inputs


def resnet18() -> Loaded:
    """The usual width, and an image small enough for many rounds."""
    graph = fx.symbolic_trace(cnn.ResNet(width=64).eval())
    generator = torch.Generator().manual_seed(0)
    return graph, (torch.rand(1, 3, 96, 96, generator=generator),)


def gigabyte() -> Loaded:
    """One node that gives a tensor of 1 GB, and one after it to stop at."""
    graph = fx.Graph()
    graph.placeholder("x")
    big = graph.call_function(torch.zeros, (250_000_000,))
    graph.output(graph.call_function(torch.Tensor.select, (big, 0, 0)))
    return fx.GraphModule(torch.nn.Module(), graph, "Gigabyte"), (torch.zeros(1),)


MODELS: dict[str, Callable[[], Loaded]] = {
    "chain": chain,
    "gpt12": gpt12,
    "resnet18": resnet18,
}
