"""Ending what another thread is in the middle of."""

import ctypes
import signal
import sys
import threading


def raise_in_thread(native_id: int, error: type[BaseException]) -> None:
    """Raise an exception in another thread at its next bytecode (CPython only)."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(native_id), ctypes.py_object(error))


def interrupt_thread(native_id: int) -> None:
    """Raise KeyboardInterrupt in a thread (CPython only).

    What raise_in_thread raises waits for the end of a sleep or a read. A signal ends them
    (PEP 475), but is for the main thread alone, and may be handled by the program.
    """
    is_main = native_id == threading.main_thread().ident
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        interrupt_program()
    else:
        raise_in_thread(native_id, KeyboardInterrupt)


def interrupt_program() -> None:
    """Do to the main thread what Ctrl-C does: a program that handles that ends in its own way."""
    main = threading.main_thread().ident
    assert main is not None
    if sys.platform != "win32" and callable(signal.getsignal(signal.SIGINT)):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        raise_in_thread(main, KeyboardInterrupt)
