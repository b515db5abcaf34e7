"""A training loop under torch.compile, with a graph break and a recompilation.

Debug it with `"compile": "dynamo"` or `"compile": "aot"`.
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    """Two blocks; a print between them, when `verbose`, breaks the graph."""

    def __init__(self, width: int = 8, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first = Block(width)
        self.second = Block(width)
        self.verbose = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        if self.verbose:
            print("rows:", x.shape[0])
        return self.second(x)


def batches(steps: int, rows: int = 16, width: int = 8) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.rand(rows, width, generator=generator) for _ in range(steps)]


def train(steps: int = 20, backend: str = "aot_eager") -> Iterator[float]:
    """Learn to give each input back, doubled. Gives each step's loss."""
    model = Net()
    compiled = torch.compile(model, backend=backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(compiled(batch), 2 * batch)
        loss.backward()
        optimizer.step()
        yield loss.item()


def report(rows: int) -> None:
    """Look at one batch, which is as large as no other: the graphs are made again for it."""
    model = Net()
    model.verbose = True
    compiled = torch.compile(model, backend="aot_eager")
    for count in (16, rows):
        compiled(batches(1, count)[0])


if __name__ == "__main__":
    for number, loss in enumerate(train()):
        print(f"step {number}: {loss.hex()}")
    report(rows=5)
