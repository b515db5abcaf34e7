"""Attention whose masked rows have nothing to attend to: an Inf, and one node later NaN.

Tick "A value becomes Inf" or "A value becomes NaN" in the BREAKPOINTS view, start, and the
debugger stops after the node that made it, with its inputs at hand.
"""

import torch
from torch import nn


class MaskedAttention(nn.Module):
    """Scores are divided by the number of keys that a row may see, which may be none."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2)
        scores = scores / mask.sum(-1, keepdim=True)
        weights = torch.softmax(scores, dim=-1)
        return self.out(weights @ v)


def model() -> nn.Module:
    return MaskedAttention()


def example_inputs() -> tuple[torch.Tensor, torch.Tensor]:
    """The last row of the mask is empty."""
    x = torch.linspace(-1, 1, 24).reshape(3, 8)
    return x, torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
