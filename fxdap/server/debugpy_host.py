"""debugpy inside of this process: opening it, its client, and what it does to a thread.

Nothing here imports debugpy before `open_debugpy`; a session without Python debugging pays nothing.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

_OWN = str(Path(__file__).parents[1])
_STEP_INTO = 107
_RUNS, _SUSPENDED = 1, 2
_LOOK_AGAIN_S = 0.02


class Door(NamedTuple):
    """Where debugpy listens, and the token that a client must present."""

    host: str
    port: int
    token: str


class _Step(NamedTuple):
    """A step of debugpy's; its frame by identity, so that nothing is kept alive."""

    command: int
    original: int
    frame: int
    code: CodeType


_door: Door | None = None
_put_by: dict[int, _Step] = {}


def open_debugpy(host: str) -> Door:
    """Let debugpy listen; it then traces all threads. RuntimeError if somebody else let it.

    It listens in this process: no second process to be left behind, and a client must present a
    token, which `debugpy.listen` with an adapter of its own does not ask for.
    """
    global _door
    if _door is not None:
        return _door
    pydevd = _import_pydevd()
    from debugpy.server import api

    if pydevd.get_global_debugger() is not None:
        raise RuntimeError("debugpy listens in this process already")
    token = secrets.token_urlsafe(16)
    pydevd.settrace(
        host=host,
        port=0,
        suspend=False,
        block_until_connected=False,
        wait_for_ready_to_run=False,
        patch_multiprocessing=False,
        notify_stdin=False,
        protocol="dap",
        access_token=token,
        dont_trace_start_patterns=_untraced(),
        dont_trace_end_patterns=(".fxgraph", "debugpy_launcher.py"),
    )
    # A second listen would hang; debugpy says so only if it knows of the first.
    api.listen.called = True
    debugger = pydevd.get_global_debugger()
    debugger.wait_for_server_socket_ready()
    _send_at_once(debugger)
    # With several threads pydevd 1.8.22 wakes another one than it resumes, which then notices
    # only when it looks again: every 0.2 s unless told else.
    pydevd.TIMEOUT_SLOW = _LOOK_AGAIN_S
    name = debugger._server_socket_name
    _door = Door(name[0], name[1], token)
    return _door


def tell_client(event: str, body: dict[str, Any]) -> None:
    """Send an event of our own to debugpy's client, which may not know it."""
    if _debugger() is not None:
        sys.modules["pydevd"].send_json_message({"type": "event", "event": event, "body": body})


def listen_to_client(listener: Any) -> None:
    """Hand debugpy's messages to `before_send` and `after_receive` of a listener."""
    if (debugger := _debugger()) is not None and listener not in debugger.dap_messages_listeners:
        sys.modules["pydevd"].add_dap_messages_listener(listener)


def listen_no_more(listener: Any) -> None:
    """The opposite."""
    if (debugger := _debugger()) is not None and listener in debugger.dap_messages_listeners:
        debugger.dap_messages_listeners.remove(listener)


def watch_client() -> None:
    """Let go of every thread when the client that has attached is gone.

    debugpy that listens in this process would hold them, and call itself attached, for ever if the
    client goes without a word; one that says so may leave a thread that was about to stop.
    """
    debugger = _debugger()
    if debugger is None or _door is None:
        return
    reader = debugger.reader

    def wait() -> None:
        reader.join()
        if debugger.reader is reader:
            from _pydevd_bundle.pydevd_api import PyDevdAPI

            PyDevdAPI().request_disconnect(debugger, resume_threads=True)

    exempt(threading.Thread(target=wait, name="fxdap-python-client", daemon=True)).start()


def keep_out() -> None:
    """Have a debugpy that is here already leave our own code alone."""
    debugger = _debugger()
    if debugger is None:
        return
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    patterns = (".fxgraph", "debugpy_launcher.py")
    PyDevdAPI().set_dont_trace_start_end_patterns(debugger, _untraced(), patterns)


def is_loaded() -> bool:
    """Whether debugpy debugs this process, with a client or waiting for one."""
    return _debugger() is not None


def is_attached() -> bool:
    """Whether a client debugs Python in this process."""
    debugger = _debugger()
    return debugger is not None and bool(debugger.is_attached())


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
    debugger = _debugger()
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
    if (debugger := _debugger()) is not None:
        _drop_step_from_inside()
        _take_step_up()
        debugger.disable_tracing()


def return_thread() -> None:
    """The calling thread goes on: trace it if anything may stop it. Tracing costs time."""
    debugger = _debugger()
    if debugger is not None and _may_stop(debugger):
        debugger.enable_tracing()


def trace_here() -> None:
    """Let breakpoints stop the calling thread from now on."""
    if (debugger := _debugger()) is not None:
        debugger.enable_tracing()


def trace_all(spared: set[int]) -> None:
    """Trace every thread but these, whatever they do now: the client set a breakpoint."""
    debugger = _debugger()
    if debugger is None or sys.version_info >= (3, 12):
        return  # sys.monitoring is switched on for what has breakpoints by debugpy itself
    import pydevd_tracing

    own = {t.ident for t in threading.enumerate() if getattr(t, "is_pydev_daemon_thread", False)}
    wanted = [ident for ident in sys._current_frames() if ident not in own | spared]
    pydevd_tracing.set_trace_to_threads(debugger.trace_dispatch, thread_idents=wanted)


def go_on() -> None:
    """Let every thread that debugpy holds run."""
    if _debugger() is not None:
        from _pydevd_bundle.pydevd_api import PyDevdAPI

        PyDevdAPI().request_resume_thread("*")


def exempt(thread: threading.Thread) -> threading.Thread:
    """Mark a thread of ours, so that it runs on while debugpy holds the others."""
    thread.pydev_do_not_trace = True  # type: ignore[attr-defined]
    thread.is_pydev_daemon_thread = True  # type: ignore[attr-defined]
    return thread


def _import_pydevd() -> Any:
    name = "PYDEVD_DISABLE_FILE_VALIDATION"
    before = os.environ.get(name)
    # Else it warns that it may miss breakpoints in Python's own frozen modules.
    os.environ[name] = "1"
    try:
        import debugpy.server.api  # noqa: F401
        import pydevd
    finally:
        if before is None:
            del os.environ[name]
    return pydevd


def _debugger() -> Any:
    pydevd = sys.modules.get("pydevd")
    return pydevd.get_global_debugger() if pydevd is not None else None


def _untraced() -> tuple[str, str]:
    import debugpy

    return os.path.dirname(debugpy.__file__), _OWN


def _send_at_once(debugger: Any) -> None:
    """debugpy sends a message in two parts, and waits 40 ms in between unless told not to."""
    listening = getattr(debugger._waiting_for_connection_thread, "_server_socket", None)
    if listening is not None:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


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
