"""What a graph is called when the user gave it no name."""

from typing import Any

import torch


def graph_title(module: torch.nn.Module) -> str:
    """The traced class's name, which GraphModule keeps and returns from `_get_name`."""
    given: Any = module
    return str(given._get_name())
