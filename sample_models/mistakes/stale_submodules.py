"""`submodules` used for a module that was added after the Interpreter was made."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class ByTable(fx.Interpreter):
    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.submodules[target](*args, **kwargs)


if __name__ == "__main__":
    module = fx.symbolic_trace(Model())
    interpreter = ByTable(module)
    module.add_submodule("added", nn.Linear(3, 2))
    linear = next(node for node in module.graph.nodes if node.op == "call_module")
    linear.target = "added"
    print(interpreter.run(torch.ones(1, 3)))
