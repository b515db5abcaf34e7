"""What a graph is called when the user gave it no name."""

from typing import Any

import torch


def graph_title(module: torch.nn.Module, script: str = "") -> str:
    """The traced class's name, which GraphModule keeps; after the script's that runs it.

    Listings are files of one folder: with the script's name those of two scripts stay apart.
    """
    given: Any = module
    title = str(given._get_name())
    return f"{script}.{title}" if script else title
