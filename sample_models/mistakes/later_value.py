"""A value read before its node ran."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class LookingAhead(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        if n.name == "relu":
            print(self.env[n.next])
        return super().run_node(n)


if __name__ == "__main__":
    interpreter = LookingAhead(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
