"""An Interpreter made of the Graph instead of the GraphModule."""

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


if __name__ == "__main__":
    graph = fx.symbolic_trace(Model()).graph
    interpreter = fx.Interpreter(graph)  # type: ignore[arg-type]
    print(interpreter.run(torch.ones(1, 3)))
