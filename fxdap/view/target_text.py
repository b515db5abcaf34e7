"""What a node calls, named as a user would write it and the same in every process."""

import functools
import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.fx import Node

_NAMESPACES = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
}
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_OPERATORS = (OpOverload, OpOverloadPacket, HigherOrderOperator)


def target_name(node: Node) -> str:
    """The one name shown for a node's target: `torch.relu`, `aten.add.Tensor`, `.chunk`."""
    target = node.target
    if isinstance(target, str):
        return f".{target}" if node.op == "call_method" else target
    return callable_name(target)


def target_names(node: Node) -> tuple[str, ...]:
    """Every spelling of a node's target that a selector may use, the shown one first."""
    target = node.target
    if not isinstance(target, str):
        return _callable_names(target)
    if node.op == "call_method":
        return (f".{target}", target, f"torch.Tensor.{target}", f"Tensor.{target}")
    if node.op == "call_module":
        return (target, *_module_class_names(node.graph.owning_module, target))
    return (target,)


def callable_name(target: object) -> str:
    """A function, operator or callable object by name, never by address."""
    return _callable_names(target)[0]


def class_names(cls: type) -> tuple[str, ...]:
    """A class as it is defined, as torch.nn exports it, and by its short name."""
    names = [f"{cls.__module__}.{cls.__qualname__}", cls.__name__]
    if issubclass(cls, torch.fx.GraphModule) and cls.__module__ == "torch.fx.graph_module":
        # Each GraphModule has a class of its own, made in __new__.
        return ("torch.fx.GraphModule", *names)
    for namespace, module in (("torch.nn", torch.nn), ("torch.fx", torch.fx)):
        if getattr(module, cls.__name__, None) is cls:
            return (f"{namespace}.{cls.__name__}", *names)
    return tuple(names)


def class_name(cls: type) -> str:
    """A class as users import it: `dict`, `torch.nn.Linear`, `model.Net`."""
    return class_names(cls)[0].removeprefix("builtins.")


def _module_class_names(root: Any, path: str) -> tuple[str, ...]:
    try:
        return class_names(type(root.get_submodule(path)))
    except AttributeError:
        return ()


_known: dict[object, tuple[str, ...]] = {}


def _callable_names(target: object) -> tuple[str, ...]:
    if _is_permanent(target):
        key = (target, getattr(target, "__name__", None))
        names = _known.get(key)
        if names is None:
            names = _known[key] = _unique(_spellings(target))
        return names
    return _unique(_spellings(target))


def _is_permanent(target: object) -> bool:
    """Whether remembering `target` keeps no value alive, as a closure or `x.add` would."""
    if isinstance(target, types.BuiltinFunctionType):
        return isinstance(target.__self__, (type, types.ModuleType, type(None)))
    return isinstance(target, _OPERATORS)


def _unique(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _spellings(target: object) -> Iterator[str]:
    if isinstance(target, OpOverload):
        overload, packet = str(target), str(target.overloadpacket)
        yield from (overload, packet, f"torch.ops.{overload}", f"torch.ops.{packet}")
        yield packet.rpartition(".")[2]
    elif isinstance(target, OpOverloadPacket):
        packet = str(target)
        yield from (packet, f"torch.ops.{packet}", packet.rpartition(".")[2])
    elif isinstance(target, HigherOrderOperator):
        name = target.__name__
        yield from (name, f"higher_order.{name}", f"torch.ops.higher_order.{name}", f"torch.{name}")
    elif isinstance(target, type):
        yield from class_names(target)
    elif isinstance(target, functools.partial):
        yield from (f"partial({name})" for name in _callable_names(target.func))
    else:
        yield from _function_spellings(target)


def _function_spellings(target: object) -> Iterator[str]:
    name = getattr(target, "__name__", None)
    if not isinstance(name, str):
        yield from class_names(type(target))
        return
    public: Sequence[str] = ()
    if isinstance(target, _FUNCTIONS):
        public = _public_names().get(target, ())
    # torch.mm and torch.dsmm are equal, being one C function; each has its own __name__.
    public = sorted(public, key=lambda place: place.rpartition(".")[2] != name)
    yield from public
    yield _defined_as(target, name)
    yield from {place.rpartition(".")[2]: None for place in public}
    yield name


def _defined_as(target: object, name: str) -> str:
    if isinstance(target, _DESCRIPTORS):
        return f"torch.Tensor.{name}" if getattr(torch.Tensor, name, None) is target else name
    owner = getattr(target, "__self__", None)
    if isinstance(owner, type) and owner.__module__ != "torch":
        return f"{owner.__module__}.{owner.__qualname__}.{name}"
    if not (owner is None or isinstance(owner, (type, types.ModuleType)) or _is_pybind(owner)):
        return f"{class_name(type(owner))}.{name}"
    module = getattr(target, "__module__", None) or "builtins"
    if module == "builtins":
        return name
    if module == "torch._tensor":
        return f"torch.Tensor.{name}"
    qualified = getattr(target, "__qualname__", name)
    if module.partition(".")[0] == "torch":
        qualified = name
    return f"{module.removeprefix('_') if module == '_operator' else module}.{qualified}"


def _is_pybind(owner: object) -> bool:
    """pybind11 binds its functions to a record whose name tells of the compiler only."""
    return type(owner).__module__ == "pybind11_builtins"


@functools.cache
def _public_names() -> dict[object, tuple[str, ...]]:
    """The places where torch exports a function, public spellings first."""
    places: dict[object, list[str]] = {}
    for namespace, module in _NAMESPACES.items():
        for name, value in vars(module).items():
            if isinstance(value, _FUNCTIONS) and _belongs_to_torch(value):
                places.setdefault(value, []).append(f"{namespace}.{name}")
    return {value: _ordered(names) for value, names in places.items()}


def _belongs_to_torch(value: Any) -> bool:
    return str(getattr(value, "__module__", None) or "").partition(".")[0] == "torch"


def _ordered(names: list[str]) -> tuple[str, ...]:
    shown = sorted(names, key=lambda name: name.rpartition(".")[2].startswith("_"))
    functional = [f"F.{name.rpartition('.')[2]}" for name in shown if ".functional." in name]
    return (*shown, *functional)
