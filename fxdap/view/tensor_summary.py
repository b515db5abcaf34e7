"""The line of a tensor, shape first: `f32[2, 6] cpu  min -3.5  max 1.2  mean 0.1  nan 2`."""

from collections.abc import Callable
from typing import Any

import torch

from fxdap.view.budget import Budget
from fxdap.view.digits import number_text, shortest
from fxdap.view.dtypes import dtype_text
from fxdap.view.quiet import is_unwatched, quiet
from fxdap.view.tensor_kind import TensorKind, tensor_kind, unwrapped
from fxdap.view.tensor_statistics import quick_statistics
from fxdap.view.type_text import tensor_type


def tensor_line(tensor: torch.Tensor, budget: Budget) -> str:
    """Type and device, what is special about it, and statistics where they are cheap."""
    with quiet():
        kind = tensor_kind(tensor)
        parts = [f"{_type(tensor, kind)} {_device(tensor)}", *_remarks(tensor, kind)]
        values = _readable_values(tensor, kind)
        if values is not None:
            parts += _statistics(values, budget)
    return "  ".join(parts)


def tensor_brief(tensor: torch.Tensor) -> str:
    """The type alone, for a tensor inside a container; the device unless it is the CPU."""
    if is_unwatched(tensor) and not tensor.is_nested:
        return _brief(tensor, TensorKind.PLAIN)
    with quiet():
        return _brief(tensor, tensor_kind(tensor))


def _brief(tensor: torch.Tensor, kind: TensorKind) -> str:
    text, device = _type(tensor, kind), _device(tensor)
    return text if device == "cpu" else f"{text} {device}"


def _type(tensor: torch.Tensor, kind: TensorKind) -> str:
    if kind is TensorKind.NESTED:
        sizes = ", ".join(_nested_size(tensor, dim) for dim in range(tensor.dim()))
        return f"{dtype_text(tensor.dtype)}[{sizes}]"
    return tensor_type(tensor)


def _nested_size(tensor: torch.Tensor, dim: int) -> str:
    """A size all parts share, else `*`: a strided nested tensor has no shape to ask for."""
    try:
        return str(tensor.size(dim))
    except RuntimeError:
        return "*"


def _device(tensor: torch.Tensor) -> str:
    try:
        return str(tensor.device)
    except Exception:
        return "no device"


def _remarks(tensor: Any, kind: TensorKind) -> list[str]:
    """What sets this tensor apart from a plain one; a remark that cannot be had is left out."""
    remarks = [] if type(tensor) is torch.Tensor else [type(tensor).__name__]
    describe = _DESCRIBE.get(kind)
    if describe is not None:
        try:
            remarks.append(describe(tensor))
        except Exception as error:
            remarks.append(f"{kind.name.lower()} ({type(error).__name__})")
    return [remark for remark in remarks if remark]


def _describe_wrapper(tensor: Any) -> str:
    cls = type(tensor)
    if cls.__name__ == "NestedTensor" and cls.__module__.startswith("torch.nested"):
        return f"jagged, {tensor._offsets.size(0) - 1} parts"
    if cls.__name__ != "DTensor" or not cls.__module__.startswith("torch.distributed"):
        return ""
    spec = tensor._spec
    return f"{spec.placements} on mesh {tuple(spec.mesh.shape)}"


def _describe_functorch(tensor: Any) -> str:
    functorch = torch._C._functorch
    level = functorch.maybe_get_level(tensor)
    if functorch.is_batchedtensor(tensor):
        batch = unwrapped(tensor)
        dim = functorch.maybe_get_bdim(tensor)
        return f"vmap level {level}, batched in dim {dim} of {tensor_type(batch)}"
    return f"grad level {level}" if functorch.is_gradtrackingtensor(tensor) else f"level {level}"


def _describe_sparse(tensor: Any) -> str:
    layout = str(tensor.layout).removeprefix("torch.")
    stored = tensor._nnz()
    return f"{layout} nnz {stored}"


def _describe_quantized(tensor: Any) -> str:
    if tensor.qscheme() not in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return f"quantized {str(tensor.qscheme()).removeprefix('torch.')}"
    return f"quantized scale {number_text(tensor.q_scale())} zero_point {tensor.q_zero_point()}"


def _describe_nested(tensor: Any) -> str:
    return f"nested, {tensor.size(0)} parts"


def _describe_opaque(tensor: Any) -> str:
    return "" if tensor.layout is torch.strided else str(tensor.layout).removeprefix("torch._")


_DESCRIBE: dict[TensorKind, Callable[[Any], str]] = {
    TensorKind.WRAPPER: _describe_wrapper,
    TensorKind.FUNCTORCH: _describe_functorch,
    TensorKind.FUNCTIONAL: lambda tensor: "functional",
    TensorKind.SPARSE: _describe_sparse,
    TensorKind.QUANTIZED: _describe_quantized,
    TensorKind.NESTED: _describe_nested,
    TensorKind.OPAQUE: _describe_opaque,
    TensorKind.FREED: lambda tensor: "storage freed",
}


def _readable_values(tensor: Any, kind: TensorKind) -> torch.Tensor | None:
    """A plain tensor on the CPU that holds the values, if one can be had without a copy."""
    if kind is TensorKind.FUNCTORCH:
        tensor = unwrapped(tensor)
        kind = tensor_kind(tensor)
    elif kind is TensorKind.SPARSE:
        tensor = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
        kind = tensor_kind(tensor)
    plain = kind is TensorKind.PLAIN and tensor.device.type == "cpu"
    return tensor if plain else None


def _statistics(values: torch.Tensor, budget: Budget) -> list[str]:
    count = values.numel()
    if count == 0:
        return ["empty"]
    if count > budget.elements or not budget.has_time():
        return []
    try:
        if values.dim() == 0:
            return [scalar_text(values)]
        text = str(quick_statistics(values))
        return ["abs", text] if values.is_complex() else [text]
    except (RuntimeError, NotImplementedError):
        return []


def scalar_text(value: torch.Tensor) -> str:
    """The value of a one-element CPU tensor, in the fewest digits that its dtype needs."""
    item: object = value.item()
    if isinstance(item, (float, complex)):
        item = shortest([item], value.dtype)[0]
    return str(item)
