"""A residual that is not one: `relu_` writes into the value that is added later.

Tick "A node writes in place" in the BREAKPOINTS view, start, and the debugger stops after the
node that wrote, and says which names show the change and who reads them later.
"""

import torch
from torch import nn


class Block(nn.Module):
    """Meant to add its input to the result; by then the input has been overwritten."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.fc(x)
        rows = hidden.view(-1)
        activated = hidden.relu_()
        return activated + rows.view(2, 4)


def model() -> nn.Module:
    return Block()


def example_inputs() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 8).reshape(2, 4),)
