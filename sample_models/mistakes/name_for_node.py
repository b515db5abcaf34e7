"""A node's name where the Node itself is meant."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class ByName(fx.Interpreter):
    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            self.env[node] = self.run_node(node.name)
        return self.env[node]


if __name__ == "__main__":
    interpreter = ByName(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
