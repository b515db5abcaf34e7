"""Autograd's view of tensors that are written in place, so that it can be had again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from fxdap.engine.undo import can_save


class _Keep(torch.autograd.Function):
    """Another tensor over the same memory, with the history that its source has now."""

    @staticmethod
    def forward(ctx: Any, source: torch.Tensor) -> torch.Tensor:
        return source.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0]


class SavedGradients:
    """What tensors were computed from, before a node writes into them with gradients on.

    Autograd gives a written tensor a new history and none can take it back, so the registers get
    tensors over the same memory that still have the old one.
    """

    nbytes = 0

    def __init__(self, registers: list[Any], end: int, written: Iterable[torch.Tensor]) -> None:
        self._registers = registers
        self._end = end
        roots = {id(root): root for root in map(_root, written)}
        self._kept = [(root, _keep(root)) for root in roots.values() if _has_history(root)]

    def of(self, written: Iterable[torch.Tensor]) -> SavedGradients:
        """Those of certain tensors only."""
        storages = {_storage(tensor) for tensor in written}
        chosen = SavedGradients(self._registers, self._end, ())
        chosen._kept = [pair for pair in self._kept if _storage(pair[0]) in storages]
        return chosen

    def restore(self) -> None:
        kept = {_storage(root): (root, old) for root, old in self._kept}
        with torch.enable_grad():
            for index in range(self._end):
                value = self._registers[index]
                self._registers[index] = _replaced(value, kept)


def _root(tensor: torch.Tensor) -> torch.Tensor:
    return tensor._base if tensor._base is not None else tensor


def _has_history(root: torch.Tensor) -> bool:
    """Not a parameter, which cannot be written with gradients on."""
    return can_save(root) and not (root.is_leaf and root.requires_grad)


def _keep(root: torch.Tensor) -> torch.Tensor:
    if not root.requires_grad:
        return root.detach()
    kept: torch.Tensor = _Keep.apply(root)  # type: ignore[no-untyped-call]
    return kept


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _replaced(value: Any, kept: dict[int, tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """A value that shows a written tensor, as it was; detached aliases stay what they are."""
    if type(value) is torch.Tensor:
        if not can_save(value) or _storage(value) not in kept:
            return value
        root, old = kept[_storage(value)]
        if not value.requires_grad and _root(value) is not root:
            return value
        if _shape(value) == _shape(old):
            return old
        return old.as_strided(value.size(), value.stride(), value.storage_offset())
    if type(value) in (tuple, list):
        items = [_replaced(item, kept) for item in value]
        same = all(new is item for new, item in zip(items, value, strict=True))
        return value if same else type(value)(items)
    return value


def _shape(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.size(), tensor.stride(), tensor.storage_offset()


def changes_history(written: Iterable[torch.Tensor], given: Iterable[torch.Tensor]) -> bool:
    """Whether autograd records what is about to be written."""
    if not torch.is_grad_enabled() or torch.is_inference_mode_enabled():
        return False
    return any(t.requires_grad for t in (*written, *given))
