"""A Node of a copied graph used to read a value of the one that runs."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Watching(fx.Interpreter):
    def __init__(self, module: fx.GraphModule, watched: fx.Node) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.watched = watched

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "output":
            print(self.env[self.watched])
        return value


if __name__ == "__main__":
    first, second = fx.symbolic_trace(Model()), fx.symbolic_trace(Model())
    relu = next(node for node in first.graph.nodes if node.name == "relu")
    print(Watching(second, relu).run(torch.ones(1, 3)))
