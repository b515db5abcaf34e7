"""vmap, no_grad and autocast in one model: stretches of a graph, or graphs of their own."""

import torch
from torch import nn


class Regions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def norm(row: torch.Tensor) -> torch.Tensor:
            return torch.sqrt((row * row).sum())

        lengths = torch.vmap(norm)(x)
        with torch.no_grad():
            scale = torch.exp(lengths.mean())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
        return y.float() * scale


def model() -> Regions:
    return Regions()


def example_inputs() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1.5, 12).reshape(4, 3),)


if __name__ == "__main__":
    print(torch.export.export(model(), example_inputs()).module()(*example_inputs()))
