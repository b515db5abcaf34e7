"""Lines of everything that is neither a tensor nor a container."""

import argparse
import array
import dataclasses
import enum
import types
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch._library.fake_class_registry import FakeScriptObject
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from fxdap.view.container_summary import dataclass_line, namespace_line
from fxdap.view.digits import int_text
from fxdap.view.node_text import node_line
from fxdap.view.rendering import Context, Formatter, cut, joined, one_line, without_address
from fxdap.view.target_text import callable_name, class_name

_INNER_STRING = 40


def repr_line(value: Any, context: Context) -> str:
    """The object's own repr, for types whose repr is known to be short and harmless."""
    return repr(value)


def text_line(value: Any, context: Context) -> str:
    return str(value)


def int_line(value: Any, context: Context) -> str:
    return int_text(int(value))


def string_line(value: Any, context: Context) -> str:
    """A str or bytes; what is cut off is never turned into text."""
    room = min(context.room, _INNER_STRING) if context.is_inner else context.room
    text = repr(value[:room])
    if len(value) <= room and len(text) <= context.room:
        return text
    unit = "characters" if isinstance(value, str) else "bytes"
    return f"{cut(text, room)} {len(value):,} {unit}"


def memory_line(value: Any, context: Context) -> str:
    return f"memoryview  {value.nbytes:,} bytes"


def enum_line(value: Any, context: Context) -> str:
    return f"{type(value).__name__}.{value._name_ or value._value_}"


def symbolic_line(value: Any, context: Context) -> str:
    """A SymInt, SymFloat or SymBool with the value it stands for; asking that adds no guard."""
    bound = None if context.is_inner else getattr(value.node, "hint", None)
    return f"{value.node}" if bound is None else f"{value.node} = {bound}"


def node_text_line(value: Any, context: Context) -> str:
    return f"%{value.name}" if context.is_inner else node_line(value)


def graph_line(value: Any, context: Context) -> str:
    return f"Graph  {_count(len(value.nodes), 'node')}"


def proxy_line(value: Any, context: Context) -> str:
    return f"Proxy(%{object.__getattribute__(value, 'node').name})"


def storage_line(value: Any, context: Context) -> str:
    # Only numbers: a storage's own repr prints every byte.
    size = value.nbytes()
    text = f"{size:,}" if isinstance(size, int) else str(size)
    return f"{type(value).__name__}  {text} bytes {value.device}"


def typed_storage_line(value: Any, context: Context) -> str:
    return storage_line(value._untyped_storage, context)


def generator_line(value: Any, context: Context) -> str:
    return f"torch.Generator {value.device}"


def module_line(value: Any, context: Context) -> str:
    name, attributes = type(value).__name__, vars(value)
    graph = attributes.get("_graph")
    if isinstance(graph, torch.fx.Graph):
        return f"{name}  {_count(len(graph.nodes), 'node')}"
    children = attributes.get("_modules") or {}
    if context.is_inner:
        return name
    if children:
        return f"{name}({_children_text(children, context)})"
    try:
        extra = one_line(str(value.extra_repr()))
    except Exception:  # user code, and the module may not be fully made yet
        extra = "..."
    return f"{name}({cut(extra, context.room)})"


def _children_text(children: dict[str, Any], context: Context) -> str:
    if not all(key.isdecimal() for key in children):
        return joined(iter(children), len(children), context.room)
    classes = [type(child).__name__ for child in children.values()]
    if len(classes) > 1 and len(set(classes)) == 1:
        return f"{len(classes)} x {classes[0]}"
    return joined(iter(classes), len(classes), context.room)


def class_line(value: Any, context: Context) -> str:
    return f"<class '{class_name(value)}'>"


def callable_line(value: Any, context: Context) -> str:
    return f"<function {callable_name(value)}>"


def method_line(value: Any, context: Context) -> str:
    owner = value.__self__
    name = getattr(value.__func__, "__name__", "?")
    cls = owner if isinstance(owner, type) else type(owner)
    return f"<method {class_name(cls)}.{name}>"


def script_function_line(value: Any, context: Context) -> str:
    return f"<ScriptFunction {value.name}>"


def script_object_line(value: Any, context: Context) -> str:
    """An object of a C++ class, by the name that the class is registered with."""
    name = str(value._type().name()).removeprefix("__torch__.torch.classes.")
    return f"<ScriptObject {name}>"


def fake_script_object_line(value: Any, context: Context) -> str:
    """What stands for one while shapes are computed."""
    return f"<FakeScriptObject {value.script_class_name}>"


def partial_line(value: Any, context: Context) -> str:
    pieces = [context.inner(arg) for arg in value.args]
    pieces += [f"{key}={context.inner(arg)}" for key, arg in value.keywords.items()]
    function = callable_name(value.func)
    return f"partial({joined([function, *pieces], len(pieces) + 1, context.room)})"


def running_line(value: Any, context: Context) -> str:
    """A generator or coroutine by its name: looking must not advance it."""
    return f"<{type(value).__name__} {value.__qualname__}>"


def array_line(value: Any, context: Context) -> str:
    return f"array({value.typecode!r})  {_count(len(value), 'item')}"


def python_module_line(value: Any, context: Context) -> str:
    return f"<module '{value.__name__}'>"


def exception_line(value: Any, context: Context) -> str:
    text = one_line(str(value))
    name = class_name(type(value))
    return cut(f"{name}: {text}" if text else name, context.room)


def object_line(value: Any, context: Context) -> str:
    """Any other object: its fields if it is a dataclass, its own repr, or its attributes."""
    cls = type(value)
    if dataclasses.is_dataclass(cls):
        return dataclass_line(value, context)
    if _has_own_repr(cls) and context.budget.has_time():
        return cut(one_line(without_address(repr(value))), context.room)
    attributes = getattr(value, "__dict__", None)
    name = class_name(cls)
    if not isinstance(attributes, dict) or not attributes or context.is_inner:
        return f"<{name}>"
    pairs = islice(attributes.items(), 50)
    pieces = (f"{key}={context.inner(item)}" for key, item in pairs)
    return f"<{name} {joined(pieces, len(attributes), context.room)}>"


def _has_own_repr(cls: Any) -> bool:
    return cls.__repr__ is not object.__repr__


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


ATOMS: dict[type, Formatter] = {
    type(None): repr_line,
    bool: repr_line,
    int: int_line,
    float: repr_line,
    complex: repr_line,
    str: string_line,
    bytes: string_line,
    type(...): repr_line,
    type(NotImplemented): repr_line,
    slice: repr_line,
    range: repr_line,
    torch.dtype: text_line,
    torch.device: text_line,
    torch.layout: text_line,
    torch.memory_format: text_line,
}

OBJECTS: tuple[tuple[type, Formatter], ...] = (
    (enum.Enum, enum_line),
    (torch.nn.Module, module_line),
    (torch.fx.Node, node_text_line),
    (torch.fx.Graph, graph_line),
    (torch.fx.Proxy, proxy_line),
    (torch.SymInt, symbolic_line),
    (torch.SymFloat, symbolic_line),
    (torch.SymBool, symbolic_line),
    (torch.UntypedStorage, storage_line),
    (torch.storage.TypedStorage, typed_storage_line),
    (torch.Generator, generator_line),
    (int, int_line),
    (str, string_line),
    (bytes, string_line),
    (bytearray, string_line),
    (memoryview, memory_line),
    (array.array, array_line),
    (types.SimpleNamespace, namespace_line),
    (argparse.Namespace, namespace_line),
    (BaseException, exception_line),
    (type, class_line),
    (types.FunctionType, callable_line),
    (types.BuiltinFunctionType, callable_line),
    (types.MethodDescriptorType, callable_line),
    (types.MethodType, method_line),
    (OpOverload, callable_line),
    (OpOverloadPacket, callable_line),
    (HigherOrderOperator, callable_line),
    (torch.jit.ScriptFunction, script_function_line),
    (torch.ScriptObject, script_object_line),
    (FakeScriptObject, fake_script_object_line),
    (partial, partial_line),
    (types.GeneratorType, running_line),
    (types.CoroutineType, running_line),
    (types.AsyncGeneratorType, running_line),
    (types.ModuleType, python_module_line),
)
