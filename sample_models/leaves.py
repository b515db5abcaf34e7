"""A model whose graph calls whole modules: leaves, which Step In traces when it is asked to."""

import torch
from torch import fx, nn


class Scaled(nn.Module):
    """A leaf that can be traced."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.full((4,), 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x)) * self.scale


class Counting(nn.Module):
    """A leaf that cannot: it counts its calls, which a graph would not."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.calls


class Rising(nn.Module):
    """A leaf whose way depends on its values, so that only its operations can be recorded."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) if x.sum() > 0 else torch.neg(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        norm, dropout = nn.BatchNorm1d(4), nn.Dropout(0.5)
        self.encoder = nn.Sequential(nn.Linear(4, 4), norm, nn.ReLU(inplace=True), dropout)
        self.scaled = Scaled()
        self.counting = Counting()
        self.rising = Rising()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rising(self.counting(self.scaled(self.encoder(x))))


class KeepModules(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return True


def model() -> fx.GraphModule:
    root = Model()
    return fx.GraphModule(root, KeepModules().trace(root), "Model")


def example_inputs() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 12).reshape(3, 4),)


if __name__ == "__main__":
    print(model()(*example_inputs()))
