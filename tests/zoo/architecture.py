"""One architecture of the zoo: how a small model of it is made, from a config, without weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Architecture:
    """`build` gives the model and its inputs by keyword; `quick` ones are part of `make test`."""

    name: str
    family: str
    build: Callable[[], tuple[nn.Module, Inputs]]
    quick: bool = False

    def make(self) -> tuple[nn.Module, Inputs]:
        """The model in evaluation mode, the same weights and inputs in every process."""
        torch.manual_seed(0)
        model, inputs = self.build()
        return model.eval().requires_grad_(False), inputs


def tokens(*shape: int, high: int = 90) -> torch.Tensor:
    """Token ids: all different from padding and from one another where they can be."""
    count = int(torch.Size(shape).numel())
    return (torch.arange(count) * 7 % high + 3).reshape(shape)


def image(*shape: int) -> torch.Tensor:
    """Smooth values between -1 and 1."""
    count = int(torch.Size(shape).numel())
    return torch.sin(torch.arange(count, dtype=torch.float32)).reshape(shape)
