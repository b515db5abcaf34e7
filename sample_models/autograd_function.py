"""An autograd.Function in a graph: its forward and its backward are graphs of their own."""

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn


class Clipped(torch.autograd.Function):
    """Squares, and lets no gradient over 1 pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return torch.clamp(gradient * x * 2, -1, 1)


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return Clipped.apply(torch.exp(x)).sum()


def captured() -> tuple[fx.GraphModule, list[torch.Tensor]]:
    """What torch.compile hands to its backend: the graph and its inputs."""
    found: list[Any] = []

    def take(graph: fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        found.extend((graph, inputs))
        return graph.forward

    x = torch.linspace(-1, 1.5, 12).reshape(4, 3).requires_grad_()
    torch.compile(Model(), backend=take, fullgraph=True)(x)
    graph, inputs = found
    return graph, inputs


if __name__ == "__main__":
    graph, inputs = captured()
    (loss,) = graph(*inputs)
    loss.backward()
    print(loss.item(), inputs[0].grad)
