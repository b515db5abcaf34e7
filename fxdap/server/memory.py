"""The memory of tensors that a client looks at, as bytes of their storages.

A reference stands for a tensor for as long as the tensor lives. Offset 0 is its first element;
the whole storage can be read, before and after it, since a view is only a window on it.
"""

from __future__ import annotations

import ctypes
import weakref
from itertools import count
from typing import NamedTuple

import torch

from fxdap.view.quiet import quiet
from fxdap.view.tensor_kind import TensorKind, tensor_kind
from fxdap.wire.errors import RequestError

LIMIT = 4 << 20
"""Bytes given at once; a client asks for more where it wants more."""


class Window(NamedTuple):
    """The part of a storage that was asked for and exists."""

    address: int
    data: bytes
    missing: int
    """Bytes of the wanted range, from its start or its end, that no storage backs."""


class Memory:
    """Tensors by memory reference. Used on stopped threads and when they stop."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._known: dict[str, weakref.ref[torch.Tensor]] = {}
        self._references: dict[int, str] = {}
        self._versions: dict[str, int | None] = {}

    def reference(self, value: object) -> str | None:
        """What a client reads a value's memory by; None where there is none to read."""
        known = self._references.get(id(value))
        if known is not None and self._known[known]() is value:
            return known
        if not isinstance(value, torch.Tensor) or not _is_readable(value):
            return None
        reference = f"tensor-{next(self._ids)}"
        key = id(value)
        self._known[reference] = weakref.ref(value, lambda _: self._forget(key, reference))
        self._references[key] = reference
        self._versions[reference] = _version(value)
        return reference

    def _forget(self, key: int, reference: str) -> None:
        if self._references.get(key) == reference:
            del self._references[key]
        self._known.pop(reference, None)
        self._versions.pop(reference, None)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()
        self._references.clear()
        self._versions.clear()

    def tensor(self, reference: str) -> torch.Tensor:
        """The tensor of a reference; RequestError if it is gone."""
        known = self._known.get(reference)
        tensor = known() if known is not None else None
        if tensor is None:
            raise RequestError(f"memory {reference!r} is gone: its tensor no longer lives")
        return tensor

    def written(self) -> list[tuple[str, int]]:
        """The references whose memory was written to since the last call, with their sizes."""
        found = []
        for reference, known in list(self._known.items()):
            tensor = known()
            if tensor is not None and (now := _version(tensor)) != self._versions.get(reference):
                self._versions[reference] = now
                found.append((reference, tensor.untyped_storage().nbytes()))
        return found


def _version(tensor: torch.Tensor) -> int | None:
    return None if tensor.is_inference() else tensor._version


def _is_readable(tensor: torch.Tensor) -> bool:
    with quiet():
        plain = tensor_kind(tensor) is TensorKind.PLAIN
        return plain and tensor.device.type == "cpu" and tensor.numel() > 0


def read(tensor: torch.Tensor, offset: int, wanted: int) -> Window:
    """Bytes from `offset` behind the tensor's first element."""
    with quiet():
        storage = tensor.untyped_storage()
        first = int(tensor.storage_offset()) * tensor.element_size() + offset
        size, begin = int(storage.nbytes()), int(storage.data_ptr())
    wanted = min(wanted, LIMIT)
    if first < 0:
        return Window(begin + first, b"", min(-first, wanted))
    held = max(min(wanted, size - first), 0)
    data = ctypes.string_at(begin + first, held) if held else b""
    return Window(begin + first, data, wanted - held)


def write(tensor: torch.Tensor, offset: int, data: bytes) -> int:
    """Put bytes there; returns how many fit. The tensor's version counts it."""
    with quiet():
        storage = tensor.untyped_storage()
        first = int(tensor.storage_offset()) * tensor.element_size() + offset
        held = max(min(len(data), int(storage.nbytes()) - first), 0) if first >= 0 else 0
        if held:
            ctypes.memmove(storage.data_ptr() + first, data, held)
            if not tensor.is_inference():
                torch.autograd.graph.increment_version(tensor)
    return held
