"""A parameter replaced by one of another shape after the export."""

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


if __name__ == "__main__":
    module = torch.export.export(Model(), (torch.ones(1, 3),)).module()
    module.linear.weight = nn.Parameter(torch.ones(2, 4))  # type: ignore[union-attr]
    print(fx.Interpreter(module).run(torch.ones(1, 3)))
