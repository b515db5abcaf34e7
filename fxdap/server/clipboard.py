"""The whole text of a value, for "Copy Value"."""

from typing import Any

import torch
from torch._tensor_str import printoptions

from fxdap.view.budget import Budget
from fxdap.view.summary import summarize

ELEMENT_LIMIT = 100_000
TEXT_LIMIT = 10_000_000


def clipboard_text(value: Any) -> str:
    """A string as it is, a tensor with all its elements up to a limit, else a long summary."""
    if isinstance(value, str):
        return value
    if type(value) in (torch.Tensor, torch.nn.Parameter) and value.numel() <= ELEMENT_LIMIT:
        with printoptions(threshold=ELEMENT_LIMIT):
            return repr(value)
    return summarize(value, Budget(length=TEXT_LIMIT, seconds=1.0))
