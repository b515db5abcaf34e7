"""Small programs that the dialogues run."""

TRACED = """\
import torch
from torch import fx, nn


class Model(nn.Module):
    def forward(self, x):
        a = x + 1
        b = torch.relu(a)
        return b * 2


graph = fx.symbolic_trace(Model())
"""

ONE_RUN = TRACED + "print(graph(torch.ones(2)).tolist())\n"

COUNTED = f"""{TRACED}
total = torch.zeros(2)
for i in range(6):
    total = total + graph(torch.full((2,), float(i)))
print(total.tolist())
"""

FAILING = """\
import torch
from torch import fx, nn


class Model(nn.Module):
    def forward(self, x, y):
        a = torch.relu(x)
        return torch.mm(a, y)


graph = fx.symbolic_trace(Model())


def run():
    return graph(torch.ones(2, 3), torch.ones(2, 3))

"""
