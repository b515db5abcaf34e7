"""Statistics of a tensor's values: one cheap pass for a line, a chunked one on demand.

Everything here runs inside `quiet()`. Minimum, maximum and mean are over the finite values;
the others are counted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from fxdap.view.digits import number_text
from fxdap.view.quiet import quiet

_CHUNK = 1 << 20
_NATIVE_REDUCTION = {
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a tensor's values are like; a field that says nothing is None."""

    min: int | float | None = None
    max: int | float | None = None
    mean: float | None = None
    std: float | None = None
    zeros: int | None = None
    true: int | None = None
    false: int | None = None
    nan: int | None = None
    inf: int | None = None
    negative_inf: int | None = None

    def __str__(self) -> str:
        return "  ".join(f"{label} {number_text(value)}" for label, value in self.shown())

    def shown(self) -> Iterator[tuple[str, int | float]]:
        """The statistics that say something, named as the line names them."""
        for name, label in _LABELS:
            value = getattr(self, name)
            if value is not None:
                yield label, value


_LABELS = tuple((name, name.replace("negative_", "-")) for name in Statistics.__dataclass_fields__)


def quick_statistics(tensor: torch.Tensor) -> Statistics:
    """Range and mean in two reductions; non-finite values cost a second look."""
    if tensor.dtype is torch.bool:
        return _of_booleans(tensor.numel(), int(tensor.count_nonzero()))
    values = _reducible(tensor)
    low, high = _bounds(values)
    if not (math.isfinite(low) and math.isfinite(high)):
        return _with_non_finite(values)
    return Statistics(min=low, max=high, mean=_mean(values))


def _of_booleans(count: int, true: int) -> Statistics:
    return Statistics(true=true, false=count - true)


def _reducible(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself where torch can reduce its dtype, else the nearest one it can."""
    if tensor.is_complex():
        return tensor.abs()
    if tensor.dtype in _NATIVE_REDUCTION:
        return tensor
    if tensor.is_floating_point():
        return tensor.to(torch.float32)
    return tensor.to(torch.float64 if tensor.dtype is torch.uint64 else torch.int64)


def _bounds(values: torch.Tensor) -> tuple[int | float, int | float]:
    """Minimum and maximum; both NaN if any value is."""
    low, high = torch.aminmax(values)
    return low.item(), high.item()


def _squares(values: torch.Tensor, mean: float) -> float:
    """The sum of squared distances from the mean."""
    centred = (values - mean).flatten()
    return float(torch.dot(centred, centred).item())


def _mean(values: torch.Tensor) -> float:
    if values.dtype is torch.float32:
        total = values.sum().item()  # half the time of mean()
        if math.isfinite(total):
            return float(total) / values.numel()
    return float(values.mean(dtype=torch.float64).item())


def _with_non_finite(values: torch.Tensor) -> Statistics:
    """Counts of NaN and infinities, and the range and mean of what is left."""
    nan = int(values.isnan().count_nonzero())
    inf = int(values.isposinf().count_nonzero())
    negative_inf = int(values.isneginf().count_nonzero())
    finite = values[values.isfinite()]
    counts = {"nan": nan or None, "inf": inf or None, "negative_inf": negative_inf or None}
    if not finite.numel():
        return Statistics(**counts)
    low, high = _bounds(finite)
    return Statistics(min=low, max=high, mean=_mean(finite), **counts)


def full_statistics(tensor: torch.Tensor) -> Statistics:
    """Every statistic, whatever it costs in time; a tensor of any size is read in chunks."""
    with quiet():
        if tensor.dtype is torch.bool:
            true = sum(int(chunk.count_nonzero()) for chunk in _chunks(tensor))
            return _of_booleans(tensor.numel(), true)
        total = _Accumulator()
        for chunk in _chunks(tensor):
            total.add(_reducible(chunk))
        return total.result()


class _Accumulator:
    """Joins the statistics of chunks; mean and variance by Chan's update, in float64."""

    def __init__(self) -> None:
        self.low: int | float | None = None
        self.high: int | float | None = None
        self.count = self.zeros = self.nan = self.inf = self.negative_inf = 0
        self.mean = self.squares = 0.0

    def add(self, values: torch.Tensor) -> None:
        self.zeros += values.numel() - int(values.count_nonzero())
        low, high = _bounds(values)
        if not (math.isfinite(low) and math.isfinite(high)):
            self.nan += int(values.isnan().count_nonzero())
            self.inf += int(values.isposinf().count_nonzero())
            self.negative_inf += int(values.isneginf().count_nonzero())
            values = values[values.isfinite()]
            if not values.numel():
                return
            low, high = _bounds(values)
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        self._add_moments(values)

    def _add_moments(self, values: torch.Tensor) -> None:
        mean, squares, count = _mean(values), 0.0, values.numel()
        if values.dtype is torch.float32:
            squares = _squares(values, mean)
        if values.dtype is not torch.float32 or not math.isfinite(squares):
            squares = _squares(values.to(torch.float64), mean)
        delta, total = mean - self.mean, self.count + count
        self.squares += squares + delta * delta * self.count * count / total
        self.mean += delta * count / total
        self.count = total

    def result(self) -> Statistics:
        counted = self.count > 0
        return Statistics(
            min=self.low,
            max=self.high,
            mean=self.mean if counted else None,
            std=math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else None,
            zeros=self.zeros,
            nan=self.nan or None,
            inf=self.inf or None,
            negative_inf=self.negative_inf or None,
        )


def _chunks(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Views of at most about a million elements that cover the tensor."""
    if tensor.numel() <= _CHUNK:
        if tensor.numel():
            yield tensor
    elif tensor.is_contiguous():
        flat = tensor.view(-1)
        yield from (flat[start : start + _CHUNK] for start in range(0, len(flat), _CHUNK))
    else:
        for part in tensor.unbind(0):
            yield from _chunks(part)
