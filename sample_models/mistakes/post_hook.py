"""`register_node_post_hook`, which torch's Interpreter does not have."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Hooked(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.register_node_post_hook(self.show)  # type: ignore[attr-defined]

    def show(self, node: fx.Node, value: Any) -> None:
        print(node, value)


if __name__ == "__main__":
    interpreter = Hooked(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
