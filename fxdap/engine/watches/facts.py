"""What kind of value a node gives, as far as the watches for NaN and Inf need to know."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, NamedTuple

import torch

from fxdap.engine.watches.leaves import stored_floats


class Kind(Enum):
    """What a value can hold."""

    FLOATS = auto()  # one tensor of real floats that can be read as it is
    PARTS = auto()  # a tuple or list of such
    NUMBERLESS = auto()  # nothing that could be NaN or Inf
    ANYTHING = auto()


FLOATS, PARTS, NUMBERLESS, ANYTHING = Kind


class Fact(NamedTuple):
    """A value's kind, and how many elements it has if it is one tensor of floats."""

    kind: Kind
    size: int = 0


_NUMBERLESS_TYPES = (int, str, torch.Size, torch.dtype, torch.device, type(None))


def fact(value: Any) -> Fact:
    """What is true of a value that a node gave."""
    if isinstance(value, torch.Tensor):
        return _of_tensor(value)
    if isinstance(value, (tuple, list)) and value and type(value) is not torch.Size:
        parts = {fact(item).kind for item in value}
        return Fact(PARTS if parts == {FLOATS} else ANYTHING)
    return Fact(NUMBERLESS if isinstance(value, _NUMBERLESS_TYPES) else ANYTHING)


def _of_tensor(tensor: torch.Tensor) -> Fact:
    if tensor.dtype.is_floating_point and stored_floats(tensor) is tensor:
        return Fact(FLOATS, tensor.numel())
    has_numbers = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return Fact(ANYTHING if has_numbers else NUMBERLESS)
