"""Where every thread of the process is, without the standstill that Python 3.11 has there."""

from __future__ import annotations

import gc
import operator
import sys
from types import FrameType
from typing import Any

_sys_current_frames = sys._current_frames

CAN_STAND_STILL = (3, 11) <= sys.version_info < (3, 11, 12)
"""Python 3.11 before 3.11.12: github.com/python/cpython/issues/106883.

It makes frame objects while it holds the lock of its list of threads. That may set off a garbage
collection, whose finalizers let other threads run. One that begins or ends a thread then waits for
the lock and keeps the GIL: the whole process waits for ever.
"""


def current_frames() -> dict[int, FrameType]:
    """The innermost frame of each thread by its ident: `sys._current_frames`, but safe."""
    if not CAN_STAND_STILL or not gc.isenabled():
        return _sys_current_frames()
    call: Any = vars(operator)["call"]  # new in 3.11
    frames: dict[int, FrameType]
    try:
        # From C, one after the other: no other thread comes in between.
        _, frames, _ = map(call, (gc.disable, _sys_current_frames, gc.enable))
    except BaseException:  # an audit hook may refuse it
        gc.enable()
        raise
    return frames
