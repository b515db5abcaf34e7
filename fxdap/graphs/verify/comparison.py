"""Whether two values are the same, and if not, how they differ."""

import math
from typing import Any

import torch
from torch.testing import assert_close

from fxdap.view.summary import summarize, type_name


def difference(actual: Any, expected: Any) -> str | None:
    """How `actual` differs from `expected`; None if it does not, or if that cannot be told.

    Tensors are compared with the tolerance that torch.testing has for their dtype.
    """
    if actual is expected:
        return None
    if isinstance(expected, torch.Tensor):
        return _of_tensors(actual, expected)
    if isinstance(expected, (list, tuple)):
        return _of_sequences(actual, expected)
    if isinstance(expected, dict):
        return _of_dicts(actual, expected)
    if expected is None or isinstance(expected, (bool, int, float, complex, str)):
        return _of_atoms(actual, expected)
    return None


def _of_tensors(actual: Any, expected: torch.Tensor) -> str | None:
    if not isinstance(actual, torch.Tensor):
        return f"{type_name(actual)} instead of a tensor"
    try:
        with torch.no_grad():
            assert_close(actual.detach(), expected.detach(), equal_nan=True)
    except AssertionError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        return "; ".join(lines[1:]) if len(lines) > 1 else lines[0]
    except (RuntimeError, NotImplementedError, TypeError):
        return None
    return None


def _of_sequences(actual: Any, expected: Any) -> str | None:
    if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
        return f"{summarize(actual)} instead of {len(expected)} items"
    for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        found = difference(mine, theirs)
        if found is not None:
            return f"item {index}: {found}"
    return None


def _of_dicts(actual: Any, expected: dict[Any, Any]) -> str | None:
    if not isinstance(actual, dict) or actual.keys() != expected.keys():
        return "other keys"
    for key in expected:
        found = difference(actual[key], expected[key])
        if found is not None:
            return f"item {key!r}: {found}"
    return None


def _of_atoms(actual: Any, expected: Any) -> str | None:
    if isinstance(actual, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return None
    if isinstance(actual, (int, float)) and isinstance(expected, float):
        close = math.isclose(actual, expected, rel_tol=1e-6) or (
            math.isnan(actual) and math.isnan(expected)
        )
        return None if close else f"{actual!r} instead of {expected!r}"
    if type(actual) is type(expected) and actual == expected:
        return None
    return f"{type_name(actual)} instead of {type_name(expected)}"
