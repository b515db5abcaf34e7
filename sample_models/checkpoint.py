"""Activation checkpointing in a graph: the body runs in the forward, and again in the backward.

torch.export inlines the body; the graph that torch.compile captures keeps it.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.utils.checkpoint import checkpoint


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(3, 3))

    def body(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(x @ self.weight)
        return torch.nn.functional.dropout(torch.sin(hidden), 0.5)

    def forward(self, x: torch.Tensor) -> Any:
        return checkpoint(self.body, x, use_reentrant=False).sum()


def captured() -> tuple[fx.GraphModule, list[torch.Tensor]]:
    """What torch.compile hands to its backend: the graph and its inputs."""
    found: list[Any] = []

    def take(graph: fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        found.extend((graph, inputs))
        return graph.forward

    x = torch.linspace(-1, 1.5, 12).reshape(4, 3).requires_grad_()
    torch.compile(Checkpointed(), backend=take, fullgraph=True)(x)
    graph, inputs = found
    return graph, inputs


if __name__ == "__main__":
    graph, inputs = captured()
    torch.manual_seed(1)
    (loss,) = graph(*inputs)
    loss.backward()
    print(loss.item(), [value.grad for value in inputs])
