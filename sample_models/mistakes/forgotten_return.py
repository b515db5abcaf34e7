"""`run_node` forgets to return what the node gave, so a later node gets None."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Printing(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        print(n, type(value).__name__)


if __name__ == "__main__":
    interpreter = Printing(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
