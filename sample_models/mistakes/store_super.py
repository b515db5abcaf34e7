"""`map_nodes_to_values` of torch called with a node and its value, as if it stored."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Recorder(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        self.map_nodes_to_values(n, result)
        return result


if __name__ == "__main__":
    interpreter = Recorder(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
