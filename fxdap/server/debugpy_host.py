"""debugpy inside of this process: opening it, and its client.

Nothing here imports debugpy before `open_debugpy`; a session without Python debugging pays nothing.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from fxdap.engine.current_frames import CAN_STAND_STILL, current_frames
from fxdap.engine.own_threads import exempt

_OWN = str(Path(__file__).parents[1])
_LOOK_AGAIN_S = 0.02


class Door(NamedTuple):
    """Where debugpy listens, and the token that a client must present."""

    host: str
    port: int
    token: str


_door: Door | None = None


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
    if debugger_here() is not None:
        sys.modules["pydevd"].send_json_message({"type": "event", "event": event, "body": body})


def listen_to_client(listener: Any) -> None:
    """Hand debugpy's messages to `before_send` and `after_receive` of a listener."""
    debugger = debugger_here()
    if debugger is not None and listener not in debugger.dap_messages_listeners:
        sys.modules["pydevd"].add_dap_messages_listener(listener)


def listen_no_more(listener: Any) -> None:
    """The opposite."""
    debugger = debugger_here()
    if debugger is not None and listener in debugger.dap_messages_listeners:
        debugger.dap_messages_listeners.remove(listener)


def watch_client() -> None:
    """Let go of every thread when the client that has attached is gone.

    debugpy that listens in this process would hold them, and call itself attached, for ever if the
    client goes without a word; one that says so may leave a thread that was about to stop.
    """
    debugger = debugger_here()
    if debugger is None or _door is None:
        return
    reader = debugger.reader

    def wait() -> None:
        from _pydevd_bundle.pydevd_api import PyDevdAPI

        reader.join()
        # debugpy serves requests under this lock: a client that comes meanwhile stays logged in.
        with debugger._main_lock:
            if debugger.reader is reader:
                PyDevdAPI().request_disconnect(debugger, resume_threads=True)

    exempt(threading.Thread(target=wait, name="fxdap-python-client", daemon=True)).start()


def keep_out() -> None:
    """Have a debugpy that is here already leave our own code alone."""
    debugger = debugger_here()
    if debugger is None:
        return
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    _have_it_ask_safely()
    patterns = (".fxgraph", "debugpy_launcher.py")
    PyDevdAPI().set_dont_trace_start_end_patterns(debugger, _untraced(), patterns)


def is_attached() -> bool:
    """Whether a client debugs Python in this process."""
    debugger = debugger_here()
    return debugger is not None and bool(debugger.is_attached())


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
    _have_it_ask_safely()
    return pydevd


def _have_it_ask_safely() -> None:
    """debugpy asks where the threads are whenever it shows a stack or sets a breakpoint.

    Some of its modules keep the function, others fetch it from `sys`.
    """
    if CAN_STAND_STILL:
        own = [m for name, m in list(sys.modules.items()) if name.startswith("_pydevd_bundle.")]
        for module in (sys, *(m for m in own if hasattr(m, "_current_frames"))):
            setattr(module, "_current_frames", current_frames)  # noqa: B010 - for mypy


def debugger_here() -> Any:
    """debugpy's own object for this process; None while it is not there."""
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
