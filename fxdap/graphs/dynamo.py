"""Staying out of torch.compile's way, without importing it: that takes seconds."""

from collections.abc import Callable
from typing import Any

import torch

_eval_frame: Any = getattr(torch._C, "_dynamo", None) and torch._C._dynamo.eval_frame


def _never() -> None:
    return None


dynamo_callback: Callable[[], object] = getattr(_eval_frame, "get_eval_frame_callback", _never)
"""None unless torch.compile is at work on this thread. A C function, which Dynamo does not trace.

Wrappers ask `torch.compiler.is_dynamo_compiling()` first, a constant to Dynamo, and inline: a
Python function of ours would be traced itself.
"""


def skip(function: Any, *, below: bool = False) -> None:
    """Let Dynamo skip a wrapper like the function of torch's that it wraps; with `below` also
    everything that it calls.
    """
    set_strategy = getattr(_eval_frame, "set_code_exec_strategy", None)
    if set_strategy is not None:
        action = _eval_frame._FrameAction
        strategy = _eval_frame._FrameExecStrategy(
            action.SKIP, action.SKIP if below else action.DEFAULT
        )
        set_strategy(function.__code__, strategy)
