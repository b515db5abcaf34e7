"""The line of a numpy array, in the words used for tensors. Imports no numpy."""

import math
import sys
from typing import Any

from fxdap.view.digits import number_text
from fxdap.view.rendering import Context

_KINDS = {"f": "f", "i": "i", "u": "u", "c": "c", "b": "b"}
_CHECKED = "fiu"


def is_array(value: Any) -> bool:
    """Whether a value is a numpy array, decided without importing numpy."""
    cls = type(value)
    return cls.__module__ == "numpy" and cls.__name__ in ("ndarray", "matrix", "memmap")


def array_line(value: Any, context: Context) -> str:
    text = f"{_type(value)} numpy"
    cheap = type(value).__name__ == "ndarray" and 0 < value.size <= context.budget.elements
    if context.is_inner or not cheap or not context.budget.has_time():
        return text
    if value.ndim == 0:
        return f"{text}  {value.item()!r}"
    if value.dtype.kind not in _CHECKED:
        return text
    # NaN must not set off the warnings, or errors, that the user's program asked numpy for.
    with sys.modules["numpy"].errstate(all="ignore"):
        return f"{text}  {_statistics(value)}"


def _type(value: Any) -> str:
    dtype = value.dtype
    kind = _KINDS.get(dtype.kind)
    name = f"{kind}{dtype.itemsize * 8}" if kind else str(dtype)
    return f"{name}[{', '.join(map(str, value.shape))}]"


def _statistics(value: Any) -> str:
    low, high = value.min().item(), value.max().item()
    parts = {}
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = (value == value) & (value != math.inf) & (value != -math.inf)
        parts = {
            "nan": int((value != value).sum()),
            "inf": int((value == math.inf).sum()),
            "-inf": int((value == -math.inf).sum()),
        }
        value = value[finite]
    if value.size:
        low, high, mean = value.min().item(), value.max().item(), float(value.mean(dtype="f8"))
        parts = {"min": low, "max": high, "mean": mean} | parts
    return "  ".join(f"{k} {number_text(v)}" for k, v in parts.items() if v or k[0] == "m")
