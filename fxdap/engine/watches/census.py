"""Counting what is not finite in a value: exact, so only where something is suspicious."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from fxdap.engine.watches.leaves import leaves, stored_floats
from fxdap.view.quiet import quiet

_TESTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "nan": torch.isnan,
    "inf": torch.isinf,
}
_PLAIN_DTYPES = {torch.float16, torch.bfloat16, torch.float32, torch.float64}


@dataclass
class Census:
    """How many values of each kind there are, where the first is, and of how many in all."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    total: int = 0

    def text(self, kind: str) -> str:
        """`[0, 3], 2 of 8 values`."""
        return f"{self.first[kind] or 'its only value'}, {self.counts[kind]} of {self.total} values"


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether all values of a float tensor are certainly finite; cheap, and may doubt too much."""
    total = screened(tensor).item()
    return math.isfinite(abs(total))


def screened(tensor: torch.Tensor) -> torch.Tensor:
    """A sum that is finite only if every value is."""
    dtype = tensor.dtype
    if dtype is torch.float32 or dtype is torch.float64 or dtype.is_complex:
        return tensor.sum()
    if dtype in _PLAIN_DTYPES:
        return tensor.sum(dtype=torch.float32)
    return tensor.to(torch.float32).sum()


def count(value: Any) -> Census:
    """Look at every tensor and number inside of a value."""
    census = Census()
    with quiet():
        for path, leaf in leaves(value):
            if isinstance(leaf, torch.Tensor):
                _count_tensor(census, path, leaf)
            elif isinstance(leaf, (float, complex)):
                _count_number(census, path, leaf)
    return census


def _count_number(census: Census, path: str, number: float | complex) -> None:
    census.total += 1
    if not math.isfinite(abs(number)):
        _add(census, "nan" if number != number else "inf", path, 1)


def _count_tensor(census: Census, path: str, tensor: torch.Tensor) -> None:
    floats = stored_floats(tensor)
    if floats is None or not floats.numel():
        return
    census.total += floats.numel()
    if is_finite(floats):
        return
    exact = floats if floats.dtype in _PLAIN_DTYPES or floats.is_complex() else floats.float()
    for kind, test in _TESTS.items():
        mask = test(exact)
        found = int(mask.count_nonzero())
        if found:
            _add(census, kind, path + _first_index(tensor, mask), found)


def _add(census: Census, kind: str, where: str, found: int) -> None:
    census.first.setdefault(kind, where)
    census.counts[kind] = census.counts.get(kind, 0) + found


def _first_index(tensor: torch.Tensor, mask: torch.Tensor) -> str:
    """The first true place of a mask, as an index; of a sparse tensor, the index it stands for."""
    flat = int(mask.reshape(-1).to(torch.uint8).argmax())
    if tensor.layout is torch.sparse_coo:
        return str(tensor._indices()[:, flat].tolist())
    place = [int(i) for i in torch.unravel_index(torch.tensor(flat), mask.shape)]
    return str(place) if place else ""
