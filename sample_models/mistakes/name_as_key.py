"""A value looked up in `env` by name; its keys are Nodes."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Peeking(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        if n.name == "add":
            print(self.env["relu"])  # type: ignore[index]
        return super().run_node(n)


if __name__ == "__main__":
    interpreter = Peeking(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
