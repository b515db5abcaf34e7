"""Copies of arguments that can be written to, sharing storage where the originals do."""

from typing import Any

import torch

Pair = tuple[torch.Tensor, torch.Tensor]


class NotCopiedError(Exception):
    """A value that cannot be copied faithfully."""


class Copies:
    """Copies values; remembers every tensor with its copy."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self._storages: dict[int, torch.UntypedStorage] = {}

    def of(self, value: Any) -> Any:
        """A copy of a value, containers included. Atoms and modules are themselves."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, tuple):
            items = [self.of(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, list):
            return [self.of(v) for v in value]
        if isinstance(value, dict):
            return {k: self.of(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self.of(value.start), self.of(value.stop), self.of(value.step))
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        for original, known in self.pairs:
            if original is tensor:
                return known
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise NotCopiedError(f"{type(tensor).__name__} is a subclass of Tensor")
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
            raise NotCopiedError("it is not a plain strided tensor")
        copied = self._view(tensor.detach())
        self.pairs.append((tensor, copied))
        return copied

    def _view(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_conj() or tensor.is_neg() or tensor.device.type == "meta":
            return tensor.clone()
        storage = tensor.untyped_storage()
        if storage._cdata not in self._storages:
            self._storages[storage._cdata] = _cloned(storage)
        empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        same = self._storages[storage._cdata]
        return empty.set_(same, tensor.storage_offset(), tensor.size(), tensor.stride())


def _cloned(storage: Any) -> torch.UntypedStorage:
    clone: torch.UntypedStorage = storage.clone()
    return clone
