"""Values of every sort that a debugger meets, for tests over all of them."""

import argparse
import array
import collections
import dataclasses
import enum
import functools
import operator
import threading
import types
import warnings
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch._subclasses import FakeTensorMode


class Color(enum.Enum):
    RED = 1


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Config:
    width: int
    weight: object = None


class Output(collections.OrderedDict[str, Any]):
    """Like transformers.ModelOutput: a dict with fields."""


@dataclasses.dataclass
class ModelOutput(Output):
    state: Any = None
    hidden: Any = None

    def __post_init__(self) -> None:
        self["state"] = self.state


Point = collections.namedtuple("Point", "x y")


class Plain:
    def __init__(self) -> None:
        self._private = 1
        self.public = torch.ones(2)

    def get(self) -> int:
        return self._private


class Empty:
    pass


class Slotted:
    __slots__ = ("never_set", "size")

    def __init__(self) -> None:
        self.size = 3


class WithProperty:
    def __init__(self) -> None:
        self.asked = 0

    @property
    def answer(self) -> int:
        self.asked += 1
        return 42

    @property
    def broken(self) -> int:
        raise ValueError("broken property")


class RaisingRepr:
    def __repr__(self) -> str:
        raise ValueError("two\nlines")


class RaisingAttributes:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class LyingClass:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("no class")


class AnyAttribute:
    def __getattr__(self, name: str) -> Any:
        return AnyAttribute()


class LongRepr:
    def __repr__(self) -> str:
        return "y" * 1_000_000


class HostileList(list[Any]):
    def __iter__(self) -> Any:
        raise RuntimeError("no iteration")

    def __len__(self) -> int:
        raise RuntimeError("no length")


class HostileDict(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError("no items")

    def __len__(self) -> int:
        raise RuntimeError("no length")


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


def cyclic_list() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def cyclic_dict() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["me"] = value
    return value


def generator() -> Any:
    yield 1


def uninitialized_module() -> nn.Module:
    return nn.Module.__new__(nn.Linear)


def freed() -> torch.Tensor:
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    return tensor


def odd_values() -> dict[str, Any]:
    """A fresh value of every sort, by name."""
    with warnings.catch_warnings(), FakeTensorMode() as fake_mode:
        warnings.simplefilter("ignore")
        fake = torch.ones(2)
        assert fake_mode is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = {
            "csr": torch.eye(2).to_sparse_csr(),
            "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
            "quantized": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
            "complex half": torch.ones(2, dtype=torch.complex32),
        }
    graph = fx.Graph()
    node = graph.placeholder("x")
    return tensors | {
        "fake": fake,
        "tensor": torch.ones(2, 3),
        "no dimensions": torch.tensor(1.5),
        "empty": torch.empty(0),
        "requires grad": torch.ones(2, requires_grad=True) * 2,
        "parameter": nn.Parameter(torch.ones(2)),
        "buffer": nn.Buffer(torch.ones(2)),
        "coo": torch.eye(2).to_sparse(),
        "meta": torch.ones(2, device="meta"),
        "freed": freed(),
        "expanded": torch.ones(1).expand(1000),
        "uninitialized": nn.parameter.UninitializedParameter(),
        "None": None,
        "int": 3,
        "huge int": 10**10_000,
        "float": 1.5,
        "long str": "z" * 1_000_000,
        "bytes": b"ab\0",
        "bytearray": bytearray(10_000),
        "memoryview": memoryview(b"abc"),
        "dtype": torch.float32,
        "device": torch.device("cpu"),
        "size": torch.Size([2, 3]),
        "list": [1, torch.ones(2), "a"],
        "long list": list(range(10_000)),
        "tuple": (1,),
        "namedtuple": Point(1, 2),
        "structseq": torch.max(torch.ones(2, 2), 0),
        "set": {1},
        "frozenset": frozenset(),
        "dict": {"a": 1, 2: "b", (3, 4): None},
        "long dict": {i: i for i in range(10_000)},
        "defaultdict": collections.defaultdict(list, a=[1]),
        "deque": collections.deque([1, 2]),
        "dict keys": {"a": 1}.keys(),
        "mappingproxy": types.MappingProxyType({"a": 1}),
        "range": range(5),
        "cyclic list": cyclic_list(),
        "cyclic dict": cyclic_dict(),
        "hostile list": HostileList([1]),
        "hostile dict": HostileDict(a=1),
        "dataclass": Config(3, torch.ones(2)),
        "model output": ModelOutput(state=torch.ones(2)),
        "enum": Color.RED,
        "flag": Access.READ | Access.WRITE,
        "plain": Plain(),
        "object": Empty(),
        "slots": Slotted(),
        "properties": WithProperty(),
        "raising repr": RaisingRepr(),
        "raising attributes": RaisingAttributes(),
        "lying class": LyingClass(),
        "any attribute": AnyAttribute(),
        "long repr": LongRepr(),
        "unhashable": Unhashable(),
        "namespace": types.SimpleNamespace(a=1),
        "arguments": argparse.Namespace(b=2),
        "function": generator,
        "lambda": lambda x: x,
        "builtin": len,
        "torch function": torch.relu,
        "operator": torch.ops.aten.add.Tensor,
        "higher-order operator": torch.ops.higher_order.cond,
        "method": Plain().get,
        "bound builtin": [].append,
        "partial": functools.partial(operator.add, 1),
        "class": nn.Linear,
        "python module": torch,
        "generator": generator(),
        "exception": ValueError("two\nlines"),
        "lock": threading.Lock(),
        "path": PurePosixPath("/a"),
        "module": nn.Linear(2, 3),
        "sequential": nn.Sequential(nn.Linear(2, 2), nn.ReLU()),
        "module list": nn.ModuleList([nn.ReLU()] * 12),
        "parameter list": nn.ParameterList([torch.ones(2)]),
        "uninitialized module": uninitialized_module(),
        "graph module": fx.symbolic_trace(nn.Linear(2, 3)),
        "node": node,
        "graph": graph,
        "proxy": fx.Proxy(node),
        "storage": torch.ones(2).untyped_storage(),
        "torch generator": torch.Generator(),
        "array": np.ones((2, 3), "f4"),
        "array of strings": np.array(["a", "b"]),
        "array of objects": np.array([1, "a"], dtype=object),
        "numpy scalar": np.float32(0.1),
        "array.array": array.array("d", [1, 2]),
    }
