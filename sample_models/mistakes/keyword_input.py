"""An input given by keyword, which `Interpreter.run` does not take."""

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


if __name__ == "__main__":
    interpreter = fx.Interpreter(fx.symbolic_trace(Model()))
    print(interpreter.run(x=torch.ones(1, 3)))  # type: ignore[call-arg]
