"""Where the supported versions of torch differ: everything else asks here, not for versions."""

import os
import sys
from collections.abc import Set
from types import FrameType
from typing import Any

import torch
from torch.fx import _symbolic_trace
from torch.fx.experimental import _config

_module: Any = _symbolic_trace
_thread_tracing: Any = getattr(_module, "_get_is_fx_tracing", None)

GENERATED_CODE = ("<eval_with_key>", "fx_generated_")
"""How the file names of code that torch.fx generates begin, in any version."""


def names_lines_of_code() -> bool:
    """Whether torch.fx writes more into generated code than the graph."""
    return bool(_config.enrich_profiler_metadata)


def is_fx_tracing() -> bool:
    """Whether symbolic_trace is going on, on this thread."""
    if _thread_tracing is not None:
        return bool(_thread_tracing())
    # Before torch 2.14 the flag was the whole process's.
    return bool(_module._is_fx_tracing_flag) and _runs_code_of(_TRACER)


def is_compiling() -> bool:
    """Whether torch.export, or since torch 2.13 torch.compile, is at work on this thread.

    The flag is the whole process's, so what tells is whose code this thread runs.
    """
    return bool(torch.compiler._is_compiling_flag) and _runs_code_of(_COMPILERS)


def _files(*parts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(os.path.join(os.path.dirname(torch.__file__), *path) for path in parts)


_TRACER = _files(("fx", "_symbolic_trace.py"))
_COMPILERS = _files(
    ("_dynamo", "convert_frame.py"),
    ("_dynamo", "functional_export.py"),
    ("_inductor", "__init__.py"),
    ("export", "_trace.py"),
)
"""Nothing in these files runs a graph that is already compiled."""


def _runs_code_of(files: Set[str]) -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename not in files:
        frame = frame.f_back
    return frame is not None
