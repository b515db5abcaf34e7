"""The tensors and numbers inside of a node's value, with the way to each."""

from collections.abc import Iterator
from typing import Any

import torch

from fxdap.view.tensor_kind import TensorKind, tensor_kind, unwrapped

_DEPTH = 8


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Everything that is no tuple, list or dict, with its Python suffix: `[0]`, `['y']`."""
    if isinstance(value, torch.Tensor) or depth == _DEPTH:
        yield path, value
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}[{key!r}]", depth + 1)
    else:
        yield path, value


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors inside of a value."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def stored_floats(tensor: torch.Tensor) -> torch.Tensor | None:
    """What of a tensor can hold NaN or Inf; None where nothing can, or nothing can be read."""
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        return None
    kind = tensor_kind(tensor)
    if kind is TensorKind.PLAIN:
        return tensor
    if kind is TensorKind.FUNCTORCH:
        return stored_floats(unwrapped(tensor))
    if kind is TensorKind.SPARSE:
        return tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
    return None


def version(tensor: torch.Tensor) -> int | None:
    """What changes when a tensor, or anything that shares its storage, is written to."""
    return None if tensor.is_inference() else tensor._version


def storage_key(tensor: torch.Tensor) -> int | None:
    """The same for all tensors that share memory; None for tensors without memory of their own."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return None
