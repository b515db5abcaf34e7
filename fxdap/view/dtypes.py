"""Short dtype names, as graph listings print them: f32, bf16, i64, b8."""

import re
from typing import Any

import torch

_FAMILIES = {"float": "f", "bfloat": "bf", "complex": "c", "uint": "u", "int": "i"}
_SIZED = re.compile(r"(bfloat|float|complex|uint|int)(\d.*)")


def _abbreviate(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    if name == "bool":
        return "b8"
    sized = _SIZED.fullmatch(name)
    return _FAMILIES[sized[1]] + sized[2].replace("_", "") if sized else name


_short_names: dict[Any, str] = {}


def dtype_text(dtype: object) -> str:
    """The short name of a torch dtype; any other dtype (numpy's) as it prints itself."""
    text = _short_names.get(dtype)
    if text is None:
        if not isinstance(dtype, torch.dtype):
            return str(dtype)
        text = _short_names[dtype] = _abbreviate(dtype)
    return text
