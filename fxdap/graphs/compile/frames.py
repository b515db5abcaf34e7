"""The user's functions that torch.compile is at work on, and what their graphs are called."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from types import CodeType, FrameType
from typing import Any
from weakref import WeakKeyDictionary

import torch

from fxdap.engine.current_frames import current_frames
from fxdap.view.source import plain_function

_forwards: WeakKeyDictionary[CodeType, str] = WeakKeyDictionary()


def function_name(code: CodeType) -> str:
    """`Net.forward`, also for the rest of it that runs after a graph break."""
    known = _forwards.get(code)
    if known is not None:
        return known
    name: str = getattr(code, "co_qualname", code.co_name)
    name = name.rpartition("<locals>.")[2]
    return plain_function(name).replace("<lambda>", "lambda")


def compiled_code() -> CodeType | None:
    """The function that torch.compile makes a graph of, on this thread, now.

    No hook tells it, but the compiler has it in a local variable.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_compiler(frame.f_code):
        frame = frame.f_back
    code = frame.f_locals.get("code") if frame is not None else None
    if frame is None or not isinstance(code, CodeType):
        return None
    variables = frame.f_locals.get("locals")
    owner = variables.get("self") if isinstance(variables, dict) else None
    if isinstance(owner, torch.nn.Module) and _is_forward(code, type(owner)):
        _forwards[code] = f"{type(owner).__name__}.forward"
    return code


def _is_forward(code: CodeType, owner: type[torch.nn.Module]) -> bool:
    """Whether it is, or is what a graph break left of, the class's forward, decorated or not."""
    forward = getattr(owner.forward, "__code__", None)
    return (
        isinstance(forward, CodeType)
        and forward.co_filename == code.co_filename
        and forward.co_name == plain_function(code.co_name)
    )


def is_compiler(code: CodeType) -> bool:
    """Whether a Python frame of this code is Dynamo compiling a function."""
    return code.co_name == "_compile" and code.co_filename.endswith("convert_frame.py")


def is_compiling(native_id: int) -> bool:
    """Whether torch.compile is at work on a thread."""
    frame = current_frames().get(native_id)
    while frame is not None:
        if is_compiler(frame.f_code):
            return True
        frame = frame.f_back
    return False


class Titles:
    """Names of graphs: the function's, then `-2`, `-3`... in the order of compilation.

    torch.compile's order is the program's own, so they are the same in every run.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def next(self, function: str) -> str:
        """The name of the next graph of a function; a module's forward bears the class's name."""
        title = function.removesuffix(".forward")
        with self._lock:
            self._counts[title] += 1
            count = self._counts[title]
        return title if count == 1 else f"{title}-{count}"


TITLES = Titles()


def next_title(module: Any) -> str:
    """The name of the graph that is being compiled on this thread."""
    code = compiled_code()
    return TITLES.next(function_name(code) if code is not None else str(module._get_name()))
