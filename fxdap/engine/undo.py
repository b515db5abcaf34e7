"""What is saved before something is written, and put back bit for bit."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch

from fxdap.engine.storage import Extent, extent


class Registers(Protocol):
    """A run, as what is saved of it knows it."""

    def put(self, index: int, value: Any) -> None: ...


class Saved(Protocol):
    """Something as it was."""

    @property
    def nbytes(self) -> int: ...

    def restore(self) -> None: ...


class SavedTensor:
    """The elements of a tensor, in memory of their own.

    The bytes between the first and the last element are copied where the tensor fills most of
    them, otherwise its elements: one column of a large cache must not cost the whole cache.
    Restored are the elements, the version, and where an operation such as `t_` or `resize_` made
    the tensor show something else, that too.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.version = None if tensor.is_inference() else tensor._version
        self._storage = tensor.untyped_storage()
        self._place = (tensor.storage_offset(), tensor.shape, tensor.stride())
        self._dtype = tensor.dtype
        where = extent(tensor)
        dense = where is None or where.stop - where.start <= 2 * tensor.nbytes
        self._window = _bytes(tensor, where) if dense else _elements(tensor)
        self._copy = self._window.clone()
        self.nbytes = self._copy.nbytes

    def restore(self) -> None:
        """Put the elements back. The version too: a saved gradient knows its tensor by it."""
        self._window.copy_(self._copy)
        tensor = self.tensor
        if self._moved(tensor):
            with torch.no_grad():
                tensor.set_(self._storage, *self._place)
        if self.version is not None and tensor._version != self.version:
            torch._C._autograd._unsafe_set_version_counter((tensor,), (self.version,))

    def swap(self) -> None:
        """Exchange the elements of now with the saved ones; done twice, all is as it was."""
        now = self._window.clone()
        self._window.copy_(self._copy)
        self._copy = now

    def _moved(self, tensor: torch.Tensor) -> bool:
        now = (tensor.storage_offset(), tensor.shape, tensor.stride())
        return now != self._place or tensor.untyped_storage()._cdata != self._storage._cdata


def _bytes(tensor: torch.Tensor, where: Extent | None) -> torch.Tensor:
    empty = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    if where is None:
        return empty
    count = where.stop - where.start
    return empty.set_(tensor.untyped_storage(), where.start, (count,), (1,))


def _elements(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements as plain ones, outside of autograd and inference mode."""
    plain = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return plain.set_(
        tensor.untyped_storage(), int(tensor.storage_offset()), tensor.shape, tensor.stride()
    )


class SavedContainer:
    """The items of a list or dict."""

    nbytes = 0

    def __init__(self, container: list[Any] | dict[Any, Any]) -> None:
        self._container = container
        self._items: Any = container.copy()

    def is_changed(self) -> bool:
        """Whether it has other items now."""
        now: Any = self._container
        if len(now) != len(self._items):
            return True
        if isinstance(now, list):
            return any(a is not b for a, b in zip(now, self._items, strict=True))
        return any(key not in now or now[key] is not self._items[key] for key in self._items)

    def restore(self) -> None:
        if isinstance(self._container, list):
            self._container[:] = self._items
        else:
            self._container.clear()
            self._container.update(self._items)


class Restorer(NamedTuple):
    """Anything that a function puts back."""

    restore: Callable[[], None]
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class SavedRegister:
    """The value of node `index` of a run."""

    owner: Registers
    index: int
    value: Any
    nbytes: int = 0

    def restore(self) -> None:
        self.owner.put(self.index, self.value)


class SavedModule:
    """Which tensors a module's parameters and buffers are: code of the user's may replace them."""

    nbytes = 0

    def __init__(self, module: torch.nn.Module) -> None:
        self._held = [(m, dict(m._parameters), dict(m._buffers)) for m in module.modules()]

    def restore(self) -> None:
        for module, parameters, buffers in self._held:
            module._parameters.clear()
            module._parameters.update(parameters)
            module._buffers.clear()
            module._buffers.update(buffers)


class SavedRandom:
    """States of random number generators: torch's and, for code of the user's, Python's."""

    def __init__(self, generators: Iterable[torch.Generator], *, python: bool) -> None:
        self._state = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if _uses_cuda() else []
        self._generators = [(g, g.get_state()) for g in generators]
        self._python = random.getstate() if python else None
        numpy = sys.modules.get("numpy") if python else None
        self._numpy = numpy.random.get_state() if numpy is not None else None
        self.nbytes = self._state.nbytes

    def restore(self) -> None:
        torch.set_rng_state(self._state)
        if self._cuda:
            torch.cuda.set_rng_state_all(self._cuda)
        for generator, state in self._generators:
            generator.set_state(state)
        if self._python is not None:
            random.setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)


def _uses_cuda() -> bool:
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


class SavedModes:
    """Switches of torch that decide what an operation does."""

    nbytes = 0

    def __init__(self) -> None:
        self._grad = torch.is_grad_enabled()
        self._autocast = [_autocast(device) for device in _DEVICES]
        self._cache = torch.is_autocast_cache_enabled()
        self._deterministic = _deterministic()
        self._dtype = torch.get_default_dtype()
        self._precision = torch.get_float32_matmul_precision()

    def restore(self) -> None:
        """Only what differs: setting the default dtype anew is not free."""
        if torch.is_grad_enabled() != self._grad:
            torch.set_grad_enabled(self._grad)
        for device, saved in zip(_DEVICES, self._autocast, strict=True):
            if _autocast(device) != saved:
                torch.set_autocast_enabled(device, saved[0])
                torch.set_autocast_dtype(device, saved[1])
        if torch.is_autocast_cache_enabled() != self._cache:
            torch.set_autocast_cache_enabled(self._cache)
        if _deterministic() != self._deterministic:
            torch.use_deterministic_algorithms(
                self._deterministic[0], warn_only=self._deterministic[1]
            )
        if torch.get_default_dtype() != self._dtype:
            torch.set_default_dtype(self._dtype)
        if torch.get_float32_matmul_precision() != self._precision:
            torch.set_float32_matmul_precision(self._precision)


_DEVICES = ("cpu", "cuda")


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)


def _deterministic() -> tuple[bool, bool]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def can_save(tensor: torch.Tensor) -> bool:
    """Whether a tensor has memory that can be copied."""
    if tensor.layout is not torch.strided or tensor.is_meta:
        return False
    try:
        tensor.untyped_storage()._cdata  # noqa: B018
    except (RuntimeError, NotImplementedError):
        return False
    return True
