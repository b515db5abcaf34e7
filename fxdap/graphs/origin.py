"""Who started a graph run: the user's code, torch itself, or a tracer's ghost of a run."""

import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from types import FrameType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx import Interpreter, Proxy

from fxdap.view.compatibility import is_compiling, is_fx_tracing

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_PASS_THROUGH = (
    os.path.join(_TORCH, "nn", "modules", ""),
    os.path.join(_TORCH, "fx", "_lazy_graph_module.py"),
    os.path.join(_TORCH, "fx", "graph_module.py"),
    os.path.join(_TORCH, "nn", "utils", "stateless.py"),
    os.path.join(_TORCH, "utils", "_contextlib.py"),
    os.path.join(_TORCH, "utils", "checkpoint.py"),
    os.path.join(_TORCH, "_compile.py"),
    os.path.join(_TORCH, "_dynamo", "eval_frame.py"),
    os.path.join(_TORCH, "_functorch", "apis.py"),
    os.path.join(_TORCH, "_functorch", "eager_transforms.py"),
    os.path.join(_TORCH, "_functorch", "functional_call.py"),
    os.path.join(_TORCH, "_functorch", "vmap.py"),
)
_GHOSTS = (FakeTensor, FunctionalTensor, Proxy)
_BOXED_RUN = Interpreter.boxed_run.__code__
_OWN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def is_librarys(file: str) -> bool:
    """Whether a file of source is torch's or our own."""
    return file.startswith((_TORCH, _OWN))


def is_ghost(args: Iterable[Any]) -> bool:
    """Whether a call only computes shapes or traces: with fake or functional tensors or proxies.

    Higher-order ops such as cond run their bodies so before the real call.
    """
    if torch._C._len_torch_dispatch_stack() and _computes_shapes():
        return True
    # C functions, flags and a loop instead of what is written more simply: this stands before
    # every graph that runs, and whatever else it touches is out of the caches by then.
    if torch._C._is_tracing() or is_fx_tracing():
        return True
    if torch.compiler._is_compiling_flag and is_compiling():
        return True
    for value in args:
        kind = type(value)
        if kind is not torch.Tensor and issubclass(kind, _GHOSTS):
            return True
    return False


def _computes_shapes() -> bool:
    modes = torch._C._TorchDispatchModeKey
    ghostly = (modes.PROXY, modes.FAKE, modes.FUNCTIONAL)
    return any(torch._C._get_dispatch_mode(mode) for mode in ghostly)


def is_users_class(cls: type) -> bool:
    """Whether a class is not torch's own: a pass of the user's is theirs whoever starts it."""
    return cls.__module__.partition(".")[0] != "torch"


def started_by_user(depth: int = 2) -> bool:
    """Whether the Python code that started the run is not torch's own.

    Frames that only pass a call on (nn.Module.__call__, nn.Sequential, vmap) are looked through.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        starts = _starts_runs(code.co_filename)
        if starts is not None and code is not _BOXED_RUN:
            return starts
        frame = frame.f_back
    return True


@lru_cache(4096)
def _starts_runs(file: str) -> bool | None:
    """Whether code of this file that starts a run is the user's; None if it passes a call on."""
    if file.startswith((*_PASS_THROUGH, _OWN)):
        return None
    return not file.startswith(_TORCH)
