"""Ending what another thread is in the middle of."""

import ctypes
import signal
import sys
import threading
import time

from fxdap.engine.current_frames import current_frames
from fxdap.engine.own_threads import exempt

_AGAIN_S = (0.05, 0.2, 1.0)
"""Pauses after a signal, before it is looked whether it was noticed."""


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
    if sys.platform == "win32" or not callable(signal.getsignal(signal.SIGINT)):
        raise_in_thread(main, KeyboardInterrupt)
        return
    place = _place(main)
    signal.pthread_kill(main, signal.SIGINT)
    insisting = threading.Thread(
        target=_insist, args=(main, place), name="fxdap-interrupt", daemon=True
    )
    exempt(insisting).start()


def _place(native_id: int) -> tuple[object, int] | None:
    frame = current_frames().get(native_id)
    return None if frame is None else (frame, frame.f_lasti)


def _insist(main: int, place: tuple[object, int] | None) -> None:
    """A signal that comes right before a call blocks is noticed only when another one ends it.

    Python notes a signal once until it has handled it, so that another one changes nothing else.
    """
    assert sys.platform != "win32"
    for pause in _AGAIN_S:
        time.sleep(pause)
        if _place(main) != place:
            return
        signal.pthread_kill(main, signal.SIGINT)
