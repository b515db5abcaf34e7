"""Where tensors lie in memory: the storages of a value, and whether two tensors overlap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

EXACT_LIMIT = 1 << 20
"""Elements up to which interleaved views are compared element by element."""


class Extent(NamedTuple):
    """The bytes of a storage between a tensor's first and last element."""

    storage: int
    start: int
    stop: int


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value: itself, or in tuples, lists and dicts; of wrappers the inner ones."""
    kind: type = type(value)  # isinstance would ask the value, which may refuse to answer
    if issubclass(kind, torch.Tensor):
        yield from _inner(value)
    elif issubclass(kind, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif issubclass(kind, dict):
        for item in value.values():
            yield from tensors_in(item)


def _inner(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    if type(tensor) in (torch.Tensor, torch.nn.Parameter):
        yield tensor
        return
    if not hasattr(type(tensor), "__tensor_flatten__"):
        yield tensor
        return
    wrapper: Any = tensor
    try:
        parts = [getattr(wrapper, name) for name in wrapper.__tensor_flatten__()[0]]
    except Exception:  # a user's subclass may refuse anything
        return
    yield from tensors_in(parts)


def extent(tensor: torch.Tensor) -> Extent | None:
    """Where a tensor lies; None for one without elements or without a storage of its own."""
    try:
        with torch._C.DisableTorchFunction():
            return _extent(tensor)
    except Exception:  # odd kinds have no storage, and a user's subclass may refuse anything
        return None


def _extent(tensor: torch.Tensor) -> Extent | None:
    if tensor.layout is not torch.strided or not tensor.numel():
        return None
    storage = int(tensor.untyped_storage()._cdata)
    size = tensor.element_size()
    start = int(tensor.storage_offset()) * size
    spans = zip(tensor.shape, tensor.stride(), strict=True)
    reach = int(sum((count - 1) * stride for count, stride in spans))
    return Extent(storage, start, start + (reach + 1) * size)


def overlap(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether the two show at least one common element."""
    if left is right:
        return True
    a, b = extent(left), extent(right)
    if a is None or b is None or a.storage != b.storage:
        return False
    if a.stop <= b.start or b.stop <= a.start:
        return False
    return _touch(left, right, a, b)


def _touch(left: torch.Tensor, right: torch.Tensor, a: Extent, b: Extent) -> bool:
    """Extents that meet may still interleave without a common element, as columns do."""
    size = left.element_size()
    if size != right.element_size() or left.is_contiguous() or right.is_contiguous():
        return True
    start = min(a.start, b.start)
    count = (max(a.stop, b.stop) - start) // size
    if count > EXACT_LIMIT:
        return True
    with torch._C.DisableTorchFunction():
        marks = torch.zeros(count, dtype=torch.bool, device="cpu")
        _window(marks, left, (a.start - start) // size).fill_(True)
        return bool(_window(marks, right, (b.start - start) // size).any())


def _window(marks: torch.Tensor, like: torch.Tensor, offset: int) -> torch.Tensor:
    return marks.as_strided(like.shape, like.stride(), offset)
