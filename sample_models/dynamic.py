"""An exported program with open sizes: a batch, a number, and sizes that only data decides."""

from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export


class Dynamic(nn.Module):
    def forward(
        self, x: torch.Tensor, count: int, repeats: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        firsts = x.reshape(-1)[:count]
        rows: Any = repeats.item()
        torch._check(rows < 5)
        return firsts, torch.ones(rows, x.shape[0] + 1), torch.nonzero(x) * 2


def example_inputs() -> tuple[torch.Tensor, int, torch.Tensor]:
    return torch.eye(7, 16), 6, torch.tensor(3)


def program() -> ExportedProgram:
    sizes = ({0: Dim("batch")}, Dim.DYNAMIC, None)
    return export(Dynamic(), example_inputs(), dynamic_shapes=sizes)


if __name__ == "__main__":
    print([value.shape for value in program().module()(torch.eye(4, 16), 5, torch.tensor(2))])
