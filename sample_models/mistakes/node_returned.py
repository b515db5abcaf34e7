"""`run_node` returns the Node instead of its value."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Returning(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        return n if n.name == "relu" else value


if __name__ == "__main__":
    interpreter = Returning(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
