"""A value read after `garbage_collect_values` freed it."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Residual(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "output":
            first = next(iter(self.graph.nodes))
            print("mean input:", self.env[first].mean())
        return value


if __name__ == "__main__":
    interpreter = Residual(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
