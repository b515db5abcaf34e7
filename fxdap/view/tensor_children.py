"""What a tensor shows when it is opened: its facts by name, its data by index.

Data is shown one dimension per level and one page at a time, as views: nothing is copied.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from fxdap.view.child import Child, Children, attempt, attribute, own_attributes
from fxdap.view.digits import shortest
from fxdap.view.quiet import is_unwatched, quiet
from fxdap.view.tensor_kind import TensorKind, tensor_kind, unwrapped
from fxdap.view.tensor_statistics import full_statistics

_FACTS = 9
_STATISTICS = (TensorKind.PLAIN, TensorKind.SPARSE, TensorKind.FUNCTORCH)


def tensor_children(tensor: torch.Tensor) -> Children:
    """The named facts of a tensor, and the length of its first dimension."""
    with quiet():
        kind = tensor_kind(tensor)
        named = [*_facts(tensor), *_special(tensor, kind)]
        return Children(named, tensor_length(tensor, kind))


def tensor_length(tensor: Any, kind: TensorKind) -> int:
    """How many parts a tensor has along its first dimension, 0 where it cannot be indexed."""
    if kind in (TensorKind.NESTED, TensorKind.PLAIN) and tensor.dim():
        return int(tensor.size(0))
    return 0


def count_tensor(tensor: torch.Tensor) -> tuple[int, int]:
    """About how many facts a tensor has, and the length of its first dimension."""
    if is_unwatched(tensor):
        return _FACTS, tensor_length(tensor, tensor_kind(tensor))
    with quiet():
        return _FACTS, tensor_length(tensor, tensor_kind(tensor))


def tensor_items(tensor: torch.Tensor, start: int, count: int) -> list[Child]:
    """One page of a tensor's first dimension: numbers in the last dimension, views before it."""
    with quiet():
        kind = tensor_kind(tensor)
        length = tensor_length(tensor, kind)
        stop = min(start + count, length)
        if start >= stop:
            return []
        if kind is TensorKind.NESTED:
            values: list[Any] = list(tensor.unbind()[start:stop])
        elif tensor.dim() == 1:
            values = _numbers(tensor[start:stop])
        else:
            values = [tensor[index] for index in range(start, stop)]
    return [
        Child(f"[{index}]", value, f"[{index}]", kind="data")
        for index, value in enumerate(values, start)
    ]


def _numbers(values: torch.Tensor) -> list[Any]:
    """A page of elements as Python numbers with no more digits than their dtype holds."""
    numbers = values.tolist()
    if values.is_floating_point() or values.is_complex():
        return list(shortest(numbers, values.dtype))
    return numbers


def _facts(tensor: Any) -> Iterator[Child]:
    for name in ("shape", "dtype", "device"):
        yield _property(name, partial(getattr, tensor, name))
    yield Child("stride", attempt(tensor.stride), ".stride()", kind="property")
    yield _property("requires_grad", lambda: tensor.requires_grad)
    yield _property("grad_fn", lambda: tensor.grad_fn)
    yield _grad(tensor)
    yield Child("storage", attempt(lambda: _storage(tensor)), ".untyped_storage()", kind="property")
    yield Child("version", attempt(lambda: tensor._version), "._version", kind="property")


def _property(name: str, get: Callable[[], object]) -> Child:
    return Child(name, attempt(get), f".{name}", kind="property")


def _grad(tensor: Any) -> Child:
    # Asking any other tensor for its grad only earns a warning.
    if tensor.is_leaf or tensor.retains_grad:
        return _property("grad", lambda: tensor.grad)
    return Child("grad", None, kind="property")


def _storage(tensor: Any) -> object:
    return tensor.untyped_storage()


def _special(tensor: Any, kind: TensorKind) -> Iterator[Child]:
    """What only this kind of tensor has."""
    if kind in _STATISTICS and tensor.numel():
        values = _stored_values(tensor, kind)
        yield Child("statistics", lazy=lambda: full_statistics(values), kind="virtual")
    parts = _PARTS.get(kind)
    if parts is not None:
        yield from parts(tensor)
    if kind is TensorKind.PLAIN and tensor.dim() == 0:
        yield _value(tensor)


def _value(tensor: Any) -> Child:
    """The number in a tensor of no dimensions; on another device only when asked."""

    def read() -> object:
        with quiet():
            return _numbers(tensor.reshape(1))[0]

    if tensor.device.type == "cpu":
        return Child("value", attempt(read), ".item()", kind="data")
    return Child("value", accessor=".item()", lazy=read, kind="data")


def _stored_values(tensor: Any, kind: TensorKind) -> Any:
    if kind is TensorKind.FUNCTORCH:
        return unwrapped(tensor)
    return _sparse_values(tensor) if kind is TensorKind.SPARSE else tensor


def _sparse_values(tensor: Any) -> Any:
    return tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()


def _sparse_parts(tensor: Any) -> Iterator[Child]:
    names = _SPARSE_PARTS.get(tensor.layout, ())
    for name in names:
        get = getattr(tensor, name)
        yield Child(name.strip("_"), attempt(get), f".{name}()", kind="data")


_SPARSE_PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


def _quantized_parts(tensor: Any) -> Iterator[Child]:
    yield Child("qscheme", attempt(tensor.qscheme), ".qscheme()", kind="property")
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        names: tuple[str, ...] = ("q_scale", "q_zero_point")
    else:
        names = ("q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis")
    for name in names:
        yield Child(name, attempt(getattr(tensor, name)), f".{name}()", kind="property")
    yield Child("int_repr", accessor=".int_repr()", lazy=tensor.int_repr, kind="data")
    yield Child("dequantize", accessor=".dequantize()", lazy=tensor.dequantize, kind="data")


def _functorch_parts(tensor: Any) -> Iterator[Child]:
    functorch = torch._C._functorch
    yield Child("level", attempt(lambda: functorch.maybe_get_level(tensor)), kind="property")
    if functorch.is_batchedtensor(tensor):
        yield Child("batch dim", attempt(lambda: functorch.maybe_get_bdim(tensor)), kind="property")
    yield Child("unwrapped", attempt(lambda: unwrapped(tensor)), kind="data")


def _wrapper_parts(tensor: Any) -> Iterator[Child]:
    """A subclass's own attributes: the tensors it wraps and what it knows about them."""
    for name, value in own_attributes(tensor):
        yield attribute(name, value)


_PARTS: dict[TensorKind, Callable[[Any], Iterator[Child]]] = {
    TensorKind.SPARSE: _sparse_parts,
    TensorKind.QUANTIZED: _quantized_parts,
    TensorKind.FUNCTORCH: _functorch_parts,
    TensorKind.WRAPPER: _wrapper_parts,
}
