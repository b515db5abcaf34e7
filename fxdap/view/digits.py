"""Numbers as text: the shortest digits that still name the same number in its own dtype."""

from collections.abc import Sequence

import torch

_EXACT = (torch.float64, torch.complex128)
_MAX_INT_BITS = 4096


def number_text(value: int | float | complex) -> str:
    """A statistic: integers in full, floats to four digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, complex):
        return f"{value:.4g}"
    return int_text(value)


def int_text(value: int) -> str:
    """An integer in full unless it is huge: Python refuses to print those at all."""
    bits = value.bit_length()
    return repr(value) if bits <= _MAX_INT_BITS else f"integer of {bits:,} bits"


def shortest(values: Sequence[float | complex], dtype: torch.dtype) -> list[float | complex]:
    """Each value as the Python number with the fewest digits that `dtype` rounds back to it.

    0.1 stored as float32 reads back as 0.10000000149011612; this gives 0.1 again. Call it
    inside `quiet()`.
    """
    result = list(values)
    if dtype in _EXACT:
        return result
    todo = [i for i, value in enumerate(result) if value == value]
    for digits in range(1, 10):
        tries = [_rounded(values[i], digits) for i in todo]
        stored = torch.tensor(tries, dtype=dtype, device="cpu").tolist()
        left = []
        for i, candidate, back in zip(todo, tries, stored, strict=True):
            if back == values[i]:
                result[i] = candidate
            else:
                left.append(i)
        todo = left
        if not todo:
            break
    return result


def _rounded(value: float | complex, digits: int) -> float | complex:
    if isinstance(value, complex):
        return complex(_rounded_float(value.real, digits), _rounded_float(value.imag, digits))
    return _rounded_float(value, digits)


def _rounded_float(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
