"""A `run` of one's own that does not store every value."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class OwnRun(fx.Interpreter):
    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            value = self.run_node(node)
            if node.op != "call_module":
                self.env[node] = value
        return value


if __name__ == "__main__":
    interpreter = OwnRun(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
