"""The parts of any value, for the Variables tree: named ones at once, indexed ones by page."""

import array
import collections
import dataclasses
import enum
import functools
import types
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from fxdap.view import array_children as arrays
from fxdap.view import container_children as containers
from fxdap.view import object_children as objects
from fxdap.view import tensor_children as tensors
from fxdap.view.array_summary import is_array
from fxdap.view.child import Child, Children
from fxdap.view.summary import Unreadable
from fxdap.view.tensor_statistics import Statistics

__all__ = ["Child", "Children", "Counts", "children", "count_children", "indexed_children"]


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """How many parts a value has; `named` may be a guess, but is 0 only when there is none."""

    named: int = 0
    indexed: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class _Opener:
    """How values of one type are opened."""

    named: Callable[[Any], Children | list[Child]]
    page: Callable[[Any, int, int], list[Child]] | None = None
    count: Callable[[Any], tuple[int, int]] | None = None


def children(value: object) -> Children:
    """All named parts of `value`, and the number of indexed ones. It never raises."""
    try:
        found = _opener(type(value), value).named(value)
    except Exception as error:
        return Children([Child("error", Unreadable(error), kind="virtual")])
    return found if isinstance(found, Children) else Children(found)


def indexed_children(value: object, start: int, count: int) -> list[Child]:
    """Indexed parts `start` to `start + count`; fewer at the end. It never raises."""
    try:
        page = _opener(type(value), value).page
        return page(value, max(start, 0), max(count, 0)) if page is not None else []
    except Exception as error:
        return [Child(f"[{start}]", Unreadable(error), kind="virtual")]


def count_children(value: object) -> Counts:
    """How many parts there are, for the price of a length: a list of values asks for each."""
    try:
        opener = _opener(type(value), value)
        if opener.count is not None:
            return Counts(*opener.count(value))
    except Exception:
        return Counts(named=1)
    found = children(value)
    return Counts(len(found.named), found.indexed)


def _opener(cls: type, value: object) -> _Opener:
    # As for summaries, the type alone decides: asking the object could run its code.
    for base, opener in _OPENERS:
        if issubclass(cls, base):
            return opener
    if dataclasses.is_dataclass(cls):
        return _DATACLASS
    return _ARRAY if is_array(value) else _OBJECT


_LEAF = _Opener(lambda value: [], count=lambda value: (0, 0))
_TENSOR = _Opener(tensors.tensor_children, tensors.tensor_items, tensors.count_tensor)
_DICT = _Opener(containers.dict_children, containers.dict_items, containers.count_dict)
_SEQUENCE = _Opener(
    containers.sequence_children, containers.sequence_items, containers.count_sequence
)
_MAPPING_PROXY = _Opener(
    lambda value: containers.dict_children(dict(value)),
    lambda value, start, count: containers.dict_items(dict(value), start, count),
)
_GRAPH = _Opener(objects.graph_children, objects.graph_items)
_DATACLASS = _Opener(containers.dataclass_children)
_ARRAY = _Opener(arrays.array_children, arrays.array_items)
_OBJECT = _Opener(objects.object_children)

_LEAVES = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    memoryview,
    array.array,
    enum.Enum,
    type(...),
    type(NotImplemented),
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    torch.Generator,
    torch.fx.Proxy,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.ModuleType,
    types.GenericAlias,
    OpOverload,
    OpOverloadPacket,
    HigherOrderOperator,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    Unreadable,
)

_OPENERS: tuple[tuple[type | tuple[type, ...], _Opener], ...] = (
    (torch.Tensor, _TENSOR),
    (_LEAVES, _LEAF),
    (dict, _DICT),
    (
        (list, tuple, set, frozenset, range, collections.deque, *containers.DICT_VIEWS),
        _SEQUENCE,
    ),
    (types.MappingProxyType, _MAPPING_PROXY),
    (torch.nn.Module, _Opener(objects.module_children)),
    (torch.fx.Node, _Opener(objects.node_children)),
    (torch.fx.Graph, _GRAPH),
    ((torch.SymInt, torch.SymFloat, torch.SymBool), _Opener(objects.symbolic_children)),
    (torch.UntypedStorage, _Opener(objects.storage_children)),
    (Statistics, _Opener(objects.statistics_children)),
    (BaseException, _Opener(objects.exception_children)),
    (functools.partial, _Opener(objects.partial_children)),
    (types.MethodType, _Opener(objects.method_children)),
)
