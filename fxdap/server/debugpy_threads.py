"""What debugpy does to a thread: where it stops, whether it is traced, which step it is in."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any, NamedTuple

from fxdap.engine.current_frames import current_frames
from fxdap.server.debugpy_host import debugger_here, is_attached

_STEP_INTO = 107
_RUNS, _SUSPENDED = 1, 2


class _Step(NamedTuple):
    """A step of debugpy's; its frame by identity, so that nothing is kept alive."""

    command: int
    original: int
    frame: int
    code: CodeType


_put_by: dict[int, _Step] = {}


def stop_in(frame: FrameType) -> None:
    """Stop at the next line of `frame`, which the calling thread runs.

    The client may have left since the step began, and nobody else would let the thread go on.
    """
    if not is_attached():
        return
    _put_step_by()
    sys.modules["pydevd"].settrace(
        suspend=True,
        trace_only_current_thread=True,
        patch_multiprocessing=False,
        stop_at_frame=frame,
    )
    # For the client this is where a step ended, not a breakpoint.
    threading.current_thread().additional_info.pydev_original_step_cmd = _STEP_INTO  # type: ignore[attr-defined]


def is_hidden(frame: FrameType) -> bool:
    """Whether debugpy steps past this code, because it is a library's and justMyCode is set."""
    debugger = debugger_here()
    return (
        debugger is not None
        and debugger.is_files_filter_enabled
        and bool(debugger.apply_files_filter(frame, frame.f_code.co_filename, False))
    )


def is_suspended(thread: threading.Thread | None) -> bool:
    """Whether debugpy holds a thread."""
    info = getattr(thread, "additional_info", None)
    return info is not None and info.is_in_wait_loop and info.pydev_state == _SUSPENDED


def thread_of(number: int) -> threading.Thread | None:
    """The thread that debugpy's client knows by a number."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
    from _pydevd_bundle.pydevd_constants import get_thread_id

    wanted = BaseSchema._dap_id_to_obj_id.get(number)
    return next((t for t in threading.enumerate() if get_thread_id(t) == wanted), None)


def leave_thread() -> None:
    """The calling thread stops for us: nothing that is evaluated on it may stop in Python."""
    if (debugger := debugger_here()) is not None:
        _drop_step_from_inside()
        _take_step_up()
        debugger.disable_tracing()


def return_thread() -> None:
    """The calling thread goes on: trace it if anything may stop it. Tracing costs time."""
    debugger = debugger_here()
    if debugger is not None and _may_stop(debugger):
        debugger.enable_tracing()


def trace_here() -> None:
    """Let breakpoints stop the calling thread from now on."""
    if (debugger := debugger_here()) is not None:
        debugger.enable_tracing()


def trace_all(spared: set[int]) -> None:
    """Trace every thread but these, whatever they do now: the client set a breakpoint."""
    debugger = debugger_here()
    if debugger is None or sys.version_info >= (3, 12):
        return  # sys.monitoring is switched on for what has breakpoints by debugpy itself
    import pydevd_tracing

    own = {t.ident for t in threading.enumerate() if getattr(t, "is_pydev_daemon_thread", False)}
    wanted = [ident for ident in current_frames() if ident not in own | spared]
    pydevd_tracing.set_trace_to_threads(debugger.trace_dispatch, thread_idents=wanted)


def go_on() -> None:
    """Let every thread that debugpy holds run."""
    if debugger_here() is not None:
        from _pydevd_bundle.pydevd_api import PyDevdAPI

        PyDevdAPI().request_resume_thread("*")


def _may_stop(debugger: Any) -> bool:
    info = getattr(threading.current_thread(), "additional_info", None)
    return (
        any(debugger.breakpoints.values())
        or bool(debugger.function_breakpoint_name_to_breakpoint)
        or bool(debugger.break_on_caught_exceptions)
        or bool(debugger.break_on_user_uncaught_exceptions)
        or (info is not None and (info.pydev_step_cmd != -1 or info.pydev_state == _SUSPENDED))
    )


def _drop_step_from_inside() -> None:
    """A Python step that was begun inside of a node ends where the graph stops.

    One begun outside, such as a step over the call of the graph, goes on when the graph ends:
    the frame that it is to stop in is the user's, and still on the stack.
    """
    info = getattr(threading.current_thread(), "additional_info", None)
    if info is None or info.pydev_step_cmd == -1:
        return
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not info.pydev_step_stop:
        frame = frame.f_back
    if frame is not None and _is_users(frame):
        return
    info.pydev_original_step_cmd = info.pydev_step_cmd = -1
    info.pydev_step_stop = None
    info.pydev_state = _RUNS
    info.update_stepping_info()


def _put_step_by() -> None:
    """Remember a step that was begun outside of the graph: debugpy knows one for each thread."""
    info = getattr(threading.current_thread(), "additional_info", None)
    stop = info.pydev_step_stop if info is not None and info.pydev_step_cmd != -1 else None
    if info is not None and stop is not None:
        step = _Step(info.pydev_step_cmd, info.pydev_original_step_cmd, id(stop), stop.f_code)
        _put_by[threading.get_ident()] = step


def _take_step_up() -> None:
    """The graph stops, so such a step goes on when the graph ends, unless its frame has ended."""
    step = _put_by.pop(threading.get_ident(), None)
    frame: FrameType | None = sys._getframe(1) if step is not None else None
    while frame is not None and step is not None:
        if id(frame) == step.frame and frame.f_code is step.code:
            info: Any = threading.current_thread().additional_info  # type: ignore[attr-defined]
            info.pydev_step_cmd, info.pydev_original_step_cmd = step.command, step.original
            info.pydev_step_stop = frame
            info.update_stepping_info()
            return
        frame = frame.f_back


def _is_users(frame: FrameType) -> bool:
    from fxdap.graphs.python_targets import is_users_code

    return is_users_code(frame.f_code)
