"""Where the supported versions of torch differ: everything else asks here, not for versions."""

from typing import Any

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
    """Whether symbolic_trace is going on: on this thread since torch 2.14, on any before."""
    if _thread_tracing is not None:
        return bool(_thread_tracing())
    return bool(_module._is_fx_tracing_flag)
