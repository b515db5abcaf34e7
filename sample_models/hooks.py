"""Hooks around the nodes of a graph, without subclass tricks: `fxdap.Interpreter`.

It needs no debugger; under one, its nodes are stepped like any other interpreter's.
"""

from typing import Any

import torch
from torch import fx, nn

import fxdap


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 8)
        self.outer = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(torch.relu(self.inner(x)))


def main() -> None:
    torch.manual_seed(0)
    interpreter = fxdap.Interpreter(fx.symbolic_trace(Model()))
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    plain = interpreter.run(x)

    def show(node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        print(f"before {node}: {tuple(args[0].shape)}")

    def largest(node: fx.Node, value: torch.Tensor) -> None:
        interpreter.map_nodes_to_values(node, value.max().item())

    def silence(node: fx.Node, value: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(value)

    handles = [
        interpreter.register_node_pre_hook(show, where="op:call_module"),
        interpreter.register_node_post_hook(silence, where="target:torch.relu"),
        interpreter.register_node_post_hook(largest, where="!op:output"),
    ]
    silenced = interpreter.run(x)
    for node, value in interpreter.node_values.items():
        if isinstance(value, float):
            print(f"largest of {node}: {value:.3f}")

    for handle in handles:
        handle.remove()
    bias = interpreter.fetch_attr("outer.bias")
    print("silenced gives the bias:", torch.equal(silenced, bias.expand(2, 2)))
    print("as before without hooks:", torch.equal(interpreter.run(x), plain))


if __name__ == "__main__":
    main()
