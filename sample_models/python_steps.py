"""Nodes that are the user's own Python: Step In goes from each to the first of its lines."""

import torch
from torch import fx, nn


@fx.wrap
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    """A wrapped function: one node, whatever stands in it."""
    largest = x.abs().max()
    if largest > factor:
        x = x / largest
    return x * factor


@torch.library.custom_op("python_steps::clip", mutates_args=())
def clip(x: torch.Tensor, limit: float) -> torch.Tensor:
    """A custom op with an implementation in Python."""
    low = -limit
    return x.clamp(low, limit)


class Gate(nn.Module):
    """A leaf: the tracer below leaves its forward as one node."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        opening = torch.sigmoid(self.weight)
        return x * opening


class Model(nn.Module):
    """A wrapped function, a leaf module and a custom op, with torch's own ops between them."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(x)
        x = scale(x, 2.0)
        x = self.gate(x)
        x = torch.ops.python_steps.clip(x, 0.75)
        return x + 1


class Tracer(fx.Tracer):
    """Leaves Gate alone."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module becomes one node."""
        return isinstance(m, Gate) or super().is_leaf_module(m, module_qualified_name)


class Doubling(fx.Interpreter):
    """An Interpreter of one's own."""

    def call_function(self, target: object, args: tuple[object, ...], kwargs: object) -> object:
        """Twice what torch's Interpreter gives."""
        value = super().call_function(target, args, kwargs)  # type: ignore[arg-type]
        return value * 2


def traced() -> fx.GraphModule:
    """The model's graph."""
    model = Model()
    return fx.GraphModule(model, Tracer().trace(model))


if __name__ == "__main__":
    graph = traced()
    values = torch.tensor([-1.0, 1.0, 4.0])
    print("graph", graph(values).tolist())
    print("interpreter", Doubling(graph).run(values).tolist())
