"""Tensors and other values that graphs hold and that are not what they seem."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.testing._internal.two_tensor import TwoTensor


class Named(torch.Tensor):
    """A subclass without anything of its own."""


class HostileRepr(torch.Tensor):
    def __repr__(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        raise RuntimeError("no repr")


class HostileFunction(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"no {func}")


class HostileDispatch(torch.Tensor):
    @staticmethod
    def __new__(cls) -> "HostileDispatch":
        make: Any = torch.Tensor._make_wrapper_subclass
        made: HostileDispatch = make(cls, (2, 3), dtype=torch.float32)
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise RuntimeError(f"no {func}")


class HostileAttributes(HostileDispatch):
    """Whatever Python looks up raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class Asked(torch.Tensor):
    """Counts what is asked of it."""

    asked = 0

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.asked += 1
        return super().__torch_function__(func, types, args, kwargs or {})


def _escaped() -> torch.Tensor:
    """A value of vmap that outlives it."""
    kept = []

    def body(x: torch.Tensor) -> torch.Tensor:
        kept.append(x * 2)
        return x

    torch.vmap(body)(torch.arange(6.0).reshape(2, 3))
    value: torch.Tensor = kept[0]
    return value


def _fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.ones(2, 3)


def _symbolic() -> torch.Tensor:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(shape_env=ShapeEnv())
    return mode.from_tensor(torch.ones(7, 16), static_shapes=False)


def _jagged() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], layout=torch.jagged)


def _strided() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)])


def _per_channel() -> torch.Tensor:
    scales, zeros = torch.tensor([0.1, 0.2]), torch.zeros(2, dtype=torch.int64)
    return torch.quantize_per_channel(torch.ones(2, 3), scales, zeros, 0, torch.qint8)


def _csr() -> torch.Tensor:
    return torch.eye(3).to_sparse_csr()


def _functional() -> torch.Tensor:
    return torch._to_functional_tensor(torch.ones(2))


def _lazy() -> Any:
    return nn.LazyLinear(3).weight


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def _script() -> Any:
    return torch.jit.script(double)


def _script_module() -> Any:
    return torch.jit.script(nn.Linear(2, 3))


def _packed() -> Any:
    """An object of a C++ class that torch itself registers."""
    weight = torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(weight, None)


def _sub(cls: type[torch.Tensor]) -> Callable[[], torch.Tensor]:
    return lambda: torch.ones(2, 3).as_subclass(cls)


def _inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(2)


ODD_TENSORS: dict[str, Callable[[], Any]] = {
    "fake": _fake,
    "fake with symbols": _symbolic,
    "fake parameter": lambda: nn.Parameter(_fake()),
    "meta": lambda: torch.ones(2, 3, device="meta"),
    "meta parameter": lambda: nn.Parameter(torch.ones(2, 3, device="meta")),
    "coo": lambda: torch.eye(3).to_sparse(),
    "coo uncoalesced": lambda: torch.sparse_coo_tensor(
        torch.tensor([[0, 0]]), torch.tensor([1.0, 2.0]), (3,)
    ),
    "coo meta": lambda: torch.eye(3).to_sparse().to("meta"),
    "csr": _csr,
    "csc": lambda: torch.eye(3).to_sparse_csc(),
    "bsr": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 1, torch.quint8),
    "quantized per channel": _per_channel,
    "nested strided": _strided,
    "nested jagged": _jagged,
    "complex": lambda: torch.tensor([1 + 2j, 3j]),
    "complex conjugated": lambda: torch.tensor([1 + 2j, 3j]).conj(),
    "imaginary part": lambda: torch.tensor([1 + 2j, 3j]).conj().imag,
    "float8": lambda: torch.ones(2).to(torch.float8_e4m3fn),
    "bits": lambda: torch.empty(2, dtype=torch.bits8),
    "uint16": lambda: torch.ones(2, dtype=torch.uint16),
    "named subclass": _sub(Named),
    "hostile repr": _sub(HostileRepr),
    "hostile function": _sub(HostileFunction),
    "hostile dispatch": HostileDispatch,
    "hostile attributes": HostileAttributes,
    "two tensors": lambda: TwoTensor(torch.ones(2, 3), torch.zeros(2, 3)),
    "escaped from vmap": _escaped,
    "functional": _functional,
    "mkldnn": lambda: torch.ones(2, 3).to_mkldnn(),
    "lazy parameter": _lazy,
    "zero tensor": lambda: torch._efficientzerotensor((2, 3)),
    "negative": lambda: torch._neg_view(torch.ones(2)),
    "inference": _inference,
    "script function": _script,
    "script module": _script_module,
    "torchbind object": _packed,
    "effect token": lambda: torch.empty(0),
    "dtype of no values": lambda: torch.empty(0, 3, dtype=torch.bool),
    "operator packet": lambda: torch.ops.aten.add,
    "ops namespace": lambda: torch.ops.aten,
    "autograd function": lambda: torch.autograd.Function,
    "grad_fn": lambda: (torch.ones(2, requires_grad=True) * 2).grad_fn,
    "stream": lambda: torch.Stream(device="cpu"),
    "return type": lambda: torch.return_types.max,
    "finfo": lambda: torch.finfo(torch.float32),
}
