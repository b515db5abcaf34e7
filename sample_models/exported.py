"""ExportedPrograms of one model: nested inputs, keywords, constants, and buffers that it writes.

`model` is the module to export; `program`, `strict` and `core` are exports of it, the last one
decomposed to core ATen operators, where the writes of buffers stand at the end.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram


@dataclass
class Options:
    offset: torch.Tensor
    scale: float


torch.export.register_dataclass(Options, serialized_type_name="exported.Options")
torch.serialization.add_safe_globals([Options])  # or sample inputs of it cannot be loaded


class Counter(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("count", torch.zeros(()), persistent=False)
        self.bias = torch.full((4,), 0.5)  # neither parameter nor buffer: a constant

    def forward(
        self,
        x: torch.Tensor,
        options: Options,
        extras: dict[str, tuple[torch.Tensor, int]],
        *,
        mask: torch.Tensor,
    ) -> dict[str, object]:
        self.count.add_(1)
        y = self.norm(self.fc(x)) + self.bias + torch.tensor([1.0, 2.0, 3.0, 4.0])
        y = y * options.scale + options.offset + extras["shift"][0]
        return {"y": torch.where(mask, y, 0), "seen": (self.count.clone(), extras["shift"][1])}


Inputs = tuple[tuple[Any, ...], dict[str, torch.Tensor]]


def example_inputs() -> Inputs:
    x = torch.arange(8.0).reshape(2, 4)
    options = Options(offset=torch.ones(4), scale=2.0)
    return (x, options, {"shift": (torch.ones(4), 3)}), {"mask": torch.tensor([True, False] * 2)}


def model() -> Counter:
    torch.manual_seed(0)
    return Counter()


def program(strict: bool = False) -> ExportedProgram:
    args, kwargs = example_inputs()
    return torch.export.export(model(), args, kwargs, strict=strict)


def strict() -> ExportedProgram:
    return program(strict=True)


def core() -> ExportedProgram:
    return program().run_decompositions()


if __name__ == "__main__":
    args, kwargs = example_inputs()
    run = program().module()
    print(run(*args, **kwargs)["seen"], run(*args, **kwargs)["seen"])
