"""`run_node` puts into `env` something else than it returns."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Scaling(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.name == "relu":
            self.env[n] = value + 1
        return value


if __name__ == "__main__":
    interpreter = Scaling(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
