"""Model source whose lines the tests set breakpoints on. `line_of` finds lines by their marks."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

FILE = __file__


def line_of(mark: str) -> int:
    """The 1-based line that ends in `# mark`."""
    lines = Path(FILE).read_text().splitlines()
    return next(i for i, text in enumerate(lines, 1) if text.endswith(f"# {mark}"))


def helper(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x)  # helper first
    return y + 1  # helper second


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> Any:
        # Nothing of the graph comes from here.  # comment
        width = x  # plain
        x = torch.tanh(torch.neg(self.fc(width)) * 2)  # many
        return helper(x)  # calls helper


class Looped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block(), Block()])

    def forward(self, x: torch.Tensor) -> Any:  # def
        for block in self.blocks:
            x = block(x)  # loop
        return x.sum()  # after loop


def unrelated(x: torch.Tensor) -> torch.Tensor:
    return torch.neg(x)  # unrelated


class Repeats(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = torch.relu(x)  # same op
        y = (
            torch.tanh(x)  # inner line
            + 1
        )
        return y * 2  # last of repeats
