"""Interrupting Python code that a stopped thread runs for the client."""

import ctypes


def interrupt(native_id: int) -> None:
    """Raise KeyboardInterrupt in a thread at its next bytecode (CPython only)."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(native_id), ctypes.py_object(KeyboardInterrupt)
    )
