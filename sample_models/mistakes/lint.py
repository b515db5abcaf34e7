"""A graph out of order, found by `Graph.lint`."""

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


if __name__ == "__main__":
    module = fx.symbolic_trace(Model())
    relu = next(node for node in module.graph.nodes if node.name == "relu")
    with module.graph.inserting_after(relu):
        scaled = module.graph.call_function(torch.mul, (relu.all_input_nodes[0], 2))
    relu.args = (scaled,)
    module.graph.lint()
