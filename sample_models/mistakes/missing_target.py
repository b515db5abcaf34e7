"""A node whose target the module does not have, but for a typing error."""

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


if __name__ == "__main__":
    module = fx.symbolic_trace(Model())
    linear = next(node for node in module.graph.nodes if node.op == "call_module")
    linear.target = "liner"
    print(fx.Interpreter(module).run(torch.ones(1, 3)))
