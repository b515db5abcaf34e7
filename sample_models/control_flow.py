"""Branches and loops that stay in the graph: cond, while_loop, scan and map.

Each function gives a module and its inputs; exported, the bodies are graphs of their own that a
debugger can step into.
"""

from typing import Any

import torch
from torch import nn
from torch._higher_order_ops import map as map_rows
from torch._higher_order_ops import scan, while_loop


class Branch(nn.Module):
    """Takes one of two ways, by the sign of the sum."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def grow(x: torch.Tensor) -> torch.Tensor:
            return torch.sin(x) + 1

        def shrink(x: torch.Tensor) -> torch.Tensor:
            return torch.cos(x) * 0.5

        return torch.cond(x.sum() > 0, grow, shrink, (x,)) * 3


class Loop(nn.Module):
    """Doubles until the sum is large enough."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        def go_on(count: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return x.sum() < 100

        def double(count: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return count + 1, x * 2 + 1

        return while_loop(go_on, double, (torch.zeros((), dtype=torch.int64), x))


class RunningSum(nn.Module):
    """Carries a sum over the rows and keeps each step's product."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        def combine(carry: torch.Tensor, row: torch.Tensor) -> tuple[Any, Any]:
            return carry + row, carry * row

        return scan(combine, torch.ones(3), x)


class EachRow(nn.Module):
    """One function over all rows."""

    def forward(self, x: torch.Tensor) -> Any:
        def scale(row: torch.Tensor, factor: Any) -> torch.Tensor:
            return torch.tanh(row) * factor

        mapped: Any = map_rows
        return mapped(scale, x, torch.full((3,), 2.0))


Sample = tuple[nn.Module, tuple[torch.Tensor]]


def branch() -> Sample:
    return Branch(), _rows()


def loop() -> Sample:
    return Loop(), _rows()


def running_sum() -> Sample:
    return RunningSum(), _rows()


def each_row() -> Sample:
    return EachRow(), _rows()


def _rows() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1.5, 12).reshape(4, 3),)


if __name__ == "__main__":
    for make in (branch, loop, running_sum, each_row):
        module, inputs = make()
        print(torch.export.export(module, inputs).module()(*inputs))
