"""A plain script: a GraphModule called, run by `fx.Interpreter`, and by an Interpreter of its own.

Nothing here knows a debugger. Under one, each of the three runs can be stepped.
"""

from collections import Counter
from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        value, gate = self.project(x).chunk(2, dim=-1)
        return value * torch.sigmoid(gate)


class Profile(fx.Interpreter):
    """Counts the nodes it runs, by opcode."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seen: Counter[str] = Counter()

    def run_node(self, n: fx.Node) -> Any:
        self.seen[n.op] += 1
        return super().run_node(n)


def main() -> None:
    torch.manual_seed(0)
    graph = fx.symbolic_trace(Model())
    x = torch.linspace(0, 1, 8).reshape(2, 4)

    called = graph(x)
    interpreted = fx.Interpreter(graph).run(x)
    profile = Profile(graph)
    profiled = profile.run(x)

    print("equal:", torch.equal(called, interpreted) and torch.equal(called, profiled))
    print("nodes:", dict(profile.seen))
    print("sum:", round(called.sum().item(), 4))


if __name__ == "__main__":
    main()
