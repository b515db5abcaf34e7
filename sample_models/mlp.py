"""The smallest model worth a debugger: two linear layers, a residual and a softmax."""

import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, features: int = 8, hidden: int = 16, classes: int = 4) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc1 = nn.Linear(features, hidden)
        self.fc2 = nn.Linear(hidden, features)
        self.head = nn.Linear(features, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.fc1(x))
        x = x + self.fc2(hidden)
        return torch.softmax(self.head(x), dim=-1)


def example_inputs() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 16).reshape(2, 8),)


if __name__ == "__main__":
    graph = torch.fx.symbolic_trace(MLP())
    print(graph(*example_inputs()))
