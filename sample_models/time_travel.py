"""A training step to walk back and forth in: in-place writes, views, dropout, batch norm.

    fxdap run sample_models/time_travel.py:TimeTravel --break add_

Step back over `add_` and look at `scaled`: it has its old values again, and `left` too, which is a
view of it. Step back over `drop` and forward again: the same elements are dropped. Change a value
in the Variables view, and step back over the change.
"""

import torch
from torch import nn


class TimeTravel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = self.fc(x) * 2
        left = scaled[:, :3]
        left.add_(1)
        normed = self.norm(scaled)
        dropped = self.drop(torch.relu(normed))
        return self.head(dropped)


torch.manual_seed(0)
example_inputs = (torch.linspace(-1, 1, 24).reshape(4, 6),)
