"""`run_node` returns another node's value: nothing fails, the result is wrong."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Caching(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.cache: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        # Meant to be keyed by node; "call_function" is the key of two of them.
        if n.op not in self.cache:
            self.cache[n.op] = super().run_node(n)
        return self.cache[n.op]


if __name__ == "__main__":
    interpreter = Caching(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
