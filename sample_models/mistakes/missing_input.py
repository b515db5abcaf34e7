"""A run with too few inputs."""

import torch
from torch import fx

if __name__ == "__main__":
    module = fx.symbolic_trace(lambda x, y: torch.relu(x) + y)
    print(fx.Interpreter(module).run(torch.ones(3)))
