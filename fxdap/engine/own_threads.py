"""Threads of the debugger's own, beside the user's."""

import threading


def exempt(thread: threading.Thread) -> threading.Thread:
    """Mark a thread of ours, so that it runs on while debugpy holds the others."""
    thread.pydev_do_not_trace = True  # type: ignore[attr-defined]
    thread.is_pydev_daemon_thread = True  # type: ignore[attr-defined]
    return thread
