"""The C library's allocator of memory, told how kept values come and go."""

import contextlib
import ctypes
import os

_M_MXFAST = 1
"""`mallopt`'s parameter: the largest freed block that is set aside (malloc.h)."""


def join_freed_blocks() -> None:
    """From now on a small block that is freed joins its free neighbours at once.

    glibc before 2.43 sets it aside at first, with others of its size. Whenever larger free memory
    comes about it goes through those, as it does again and again where many tensors are let go of;
    and what it has set aside between tensors is in the way of the next ones.

    It is so for the whole process and for good: glibc tells nobody what was set before. What the
    user has set (GLIBC_TUNABLES) holds, and where there is no glibc nothing happens.
    """
    if "glibc.malloc.mxfast" in os.environ.get("GLIBC_TUNABLES", ""):
        return
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not this C library
        ctypes.CDLL(None).mallopt(_M_MXFAST, 0)
