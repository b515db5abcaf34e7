"""What sort of tensor a value is, and so what may be asked of it without cost or harm."""

from enum import Enum, auto
from typing import Any

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

_functorch = torch._C._functorch
_PLAIN_DISPATCH = torch._C._disabled_torch_dispatch_impl
_PLAIN_TYPES = {torch.Tensor, torch.nn.Parameter}


class TensorKind(Enum):
    """How a tensor stores its values. Only PLAIN and META take strides and indexing as usual."""

    PLAIN = auto()
    META = auto()
    FREED = auto()
    WRAPPER = auto()
    """A subclass with a dispatch of its own: FakeTensor, DTensor, and users' classes."""
    FUNCTORCH = auto()
    FUNCTIONAL = auto()
    SPARSE = auto()
    QUANTIZED = auto()
    NESTED = auto()
    OPAQUE = auto()
    """No values that torch lets us read: mkldnn layout, a lazy module's parameter."""


def tensor_kind(tensor: torch.Tensor) -> TensorKind:
    """Classify a tensor by type and flags alone: no kernel runs, no data is read."""
    cls = type(tensor)
    if cls not in _PLAIN_TYPES and not _dispatches_plainly(cls):
        return TensorKind.WRAPPER
    if issubclass(cls, (UninitializedParameter, UninitializedBuffer)):
        return TensorKind.OPAQUE
    if _functorch.is_functorch_wrapped_tensor(tensor):
        return TensorKind.FUNCTORCH
    if torch._is_functional_tensor(tensor):
        return TensorKind.FUNCTIONAL
    if tensor.is_nested:
        return TensorKind.NESTED
    if tensor.layout is not torch.strided:
        is_sparse = str(tensor.layout).startswith("torch.sparse")
        return TensorKind.SPARSE if is_sparse else TensorKind.OPAQUE
    if tensor.is_quantized:
        return TensorKind.QUANTIZED
    if tensor.is_meta:
        return TensorKind.META
    return TensorKind.PLAIN if storage_holds(tensor) else TensorKind.FREED


def _dispatches_plainly(cls: Any) -> bool:
    return cls.__torch_dispatch__ is _PLAIN_DISPATCH


def storage_holds(tensor: torch.Tensor) -> bool:
    """Whether the storage is as long as the tensor says; reading one that FSDP freed crashes."""
    if not tensor.numel():
        return True
    last = tensor.storage_offset()
    if tensor.is_contiguous():
        last += tensor.numel() - 1
    else:
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            last += (size - 1) * stride
    try:
        return tensor.untyped_storage().nbytes() >= (last + 1) * tensor.element_size()
    except (RuntimeError, NotImplementedError):
        return False


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The real tensor under every level of vmap, grad and jvp."""
    while _functorch.is_functorch_wrapped_tensor(tensor):
        tensor = _functorch.get_unwrapped(tensor)
    return tensor
