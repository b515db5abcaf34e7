"""The user's Python that a node runs: functions, forwards, kernels, Interpreter overrides."""

from __future__ import annotations

import functools
import inspect
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Interpreter

from fxdap.engine.execute import fetch_attribute
from fxdap.engine.frame import Frame
from fxdap.engine.opaque import namespace, qualified_name, runs_python
from fxdap.view.node_text import target_name

_TORCH = tuple(os.path.join(path, "") for path in torch.__path__)
_OWN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_INSTALLED = tuple(
    os.path.join(os.path.realpath(folder), "")
    for name, folder in sysconfig.get_paths().items()
    if name in {"stdlib", "platstdlib", "purelib", "platlib"}
)


@dataclass(frozen=True)
class PythonTarget:
    """Python that Step In can enter: what to call it, and its code."""

    name: str
    code: CodeType


def python_targets(frame: Frame) -> list[PythonTarget]:
    """What the node that is about to run calls of the user's Python, in the order it is entered."""
    if frame.phase != "before":
        return []
    found: dict[CodeType, PythonTarget] = {}
    for name, function in (*_overrides(frame), *_called(frame), *_subclasses(frame)):
        for code in _codes(function):
            found.setdefault(code, PythonTarget(name, code))
    return list(found.values())


def may_run_python(frame: Frame) -> bool:
    """Whether Python that cannot be named before may run: a kernel given to torch.library."""
    node = frame.node
    if frame.phase != "before":
        return False
    if node.op == "call_module":
        called = _module(frame)
        return isinstance(called, torch.nn.Module) and any(
            is_users_code(code)
            for inner in called.modules()
            if not isinstance(inner, GraphModule)
            for code in _codes(type(inner).forward)
        )
    return runs_python(frame.program.module, node) or _has_python_kernel(node.target)


def _has_python_kernel(target: Any) -> bool:
    """Whether somebody gave a kernel that computes to `torch.library.Library.impl`.

    torch keeps the keys of all, such as `aten/relu/CPU`; its own are for shapes, or in `prims`.
    """
    if not isinstance(target, (OpOverload, OpOverloadPacket)) or namespace(target) == "prims":
        return False
    ahead = qualified_name(target).replace("::", "/")
    return any(
        key.startswith((f"{ahead}/", f"{ahead}.")) and not key.endswith("/Meta")
        for key in torch.library._impls
    )


def is_users_code(code: CodeType) -> bool:
    """Whether code is the user's: not torch's, ours, a graph's generated code, or installed."""
    return _is_users_file(code.co_filename)


@functools.lru_cache(maxsize=4096)
def _is_users_file(file: str) -> bool:
    if file.startswith(("<", _OWN, *_TORCH)) or file.endswith(".fxgraph"):
        return False
    return not os.path.realpath(file).startswith(_INSTALLED)


def _overrides(frame: Frame) -> Iterator[tuple[str, Any]]:
    """The methods of the user's own Interpreter that run this node."""
    cls = type(frame.interpreter)
    if frame.interpreter is None or cls is Interpreter:
        return
    for method in ("run_node", frame.node.op):
        yield f"{cls.__name__}.{method}", getattr(cls, method, None)


def _called(frame: Frame) -> Iterator[tuple[str, Any]]:
    """What the node's target names."""
    node = frame.node
    if node.op == "call_function":
        if isinstance(node.target, (OpOverload, OpOverloadPacket)):
            yield from _kernels(node.target)
        else:
            yield target_name(node), node.target
    elif node.op == "call_method" and node.args:
        method = getattr(type(frame.argument(node.args[0])), str(node.target), None)
        yield target_name(node), method
    elif node.op == "call_module":
        called = _module(frame)
        if called is not None and not isinstance(called, GraphModule):
            yield f"{type(called).__name__}.forward", called.forward


def _subclasses(frame: Frame) -> Iterator[tuple[str, Any]]:
    """What tensors of the user's own class do with every operator."""
    for node in frame.node.all_input_nodes:
        cls = type(frame.argument(node))
        if issubclass(cls, torch.Tensor):
            for method in ("__torch_function__", "__torch_dispatch__"):
                yield f"{cls.__name__}.{method}", getattr(cls, method, None)


def _kernels(op: OpOverload | OpOverloadPacket) -> Iterator[tuple[str, Any]]:
    """The Python that `torch.library.custom_op` and its `register_kernel` were given."""
    name = qualified_name(op)
    definition = OPDEFS.get(name)
    if definition is None:
        return
    yield name, definition._init_fn
    for device, kernel in definition._backend_fns.items():
        yield f"{name} ({device})" if device else name, _enclosed(kernel)


def _enclosed(kernel: Any, depth: int = 6) -> Any:
    """A registered kernel is wrapped by torch; the user's function is what the wrappers call."""
    code = getattr(kernel, "__code__", None)
    if code is None or depth == 0 or is_users_code(code):
        return kernel if code is not None else None
    inner = [cell.cell_contents for cell in kernel.__closure__ or ()]
    found = (_enclosed(each, depth - 1) for each in (getattr(kernel, "__wrapped__", None), *inner))
    return next((each for each in found if each and is_users_code(each.__code__)), None)


def _codes(function: Any) -> Iterator[CodeType]:
    """Code of a callable that is not torch's: decorators around it, then itself."""
    seen = 0
    while function is not None and seen < 32:
        code = getattr(_plain(function), "__code__", None)
        if code is not None and not code.co_filename.startswith((_OWN, "<", *_TORCH)):
            yield code
        function, seen = getattr(function, "__wrapped__", None), seen + 1


def _plain(function: Any) -> Any:
    """The function that a partial, a bound method or an object with `__call__` runs."""
    while isinstance(function, functools.partial):
        function = function.func
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        function = type(function).__dict__.get("__call__")
    return getattr(function, "__func__", function)


def _module(frame: Frame) -> Any:
    try:
        return fetch_attribute(frame.program.module, str(frame.node.target))
    except AttributeError:
        return None
