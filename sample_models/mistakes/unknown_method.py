"""A method that torch's Interpreter does not have, near one that it has."""

from typing import Any

import torch
from torch import fx, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + 1


class Calling(fx.Interpreter):
    def call_functions(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().call_functions(target, args, kwargs)  # type: ignore[misc]

    def run_node(self, n: fx.Node) -> Any:
        if n.op == "call_function":
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return self.call_functions(n.target, args, kwargs)
        return super().run_node(n)


if __name__ == "__main__":
    interpreter = Calling(fx.symbolic_trace(Model()))
    print(interpreter.run(torch.ones(1, 3)))
