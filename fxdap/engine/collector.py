"""Python's garbage collector, told of the values that are kept."""

import gc
import threading

WORTH_TELLING = 200
"""Nodes of a graph from which on its values set off more collections than telling of them costs."""

_HIGHEST = 2**31 - 1

_lock = threading.Lock()
_kept = 0
_users = 0
_set = -1


def expect_kept(objects: int) -> None:
    """So many values begin to be kept, or (negative) are let go of.

    The collector begins when `gc.get_threshold()[0]` more objects were made than freed. Values that
    are kept until a run ends would set it off in the middle, to find that all of them are alive,
    again and again; so the threshold is higher by their number for so long. What the program
    sets meanwhile holds; that a threshold of 0 means never, too.
    """
    global _kept, _users, _set
    with _lock:
        now = gc.get_threshold()[0]
        if now != _set:
            _users = now
        _kept += objects
        _set = min(_users + _kept, _HIGHEST) if _users else 0
        gc.set_threshold(_set)
