"""GraphModules inside a GraphModule, three deep, one of them called twice.

A tracer that treats a GraphModule as a leaf keeps each graph whole: the outer one has a
`call_module` node where a debugger can step in.
"""

import torch
from torch import fx, nn


class Gate(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(self.linear(x))


class Layer(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.gate = trace(Gate(features))
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.gate(x))


class Model(nn.Module):
    def __init__(self, features: int = 6) -> None:
        super().__init__()
        self.layer = trace(Layer(features))
        self.head = nn.Linear(features, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer(x)
        x = self.layer(x)
        return self.head(x)


class KeepGraphs(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, fx.GraphModule) or super().is_leaf_module(m, module_qualified_name)


def trace(module: nn.Module) -> fx.GraphModule:
    return fx.GraphModule(module, KeepGraphs().trace(module), type(module).__name__)


def model() -> fx.GraphModule:
    torch.manual_seed(0)
    return trace(Model())


def example_inputs() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 12).reshape(2, 6),)


if __name__ == "__main__":
    print(model()(*example_inputs()))
