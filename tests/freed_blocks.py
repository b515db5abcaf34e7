"""How glibc treats small blocks that are freed, by its own figures."""

import ctypes
import platform

import pytest


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]
    """As in malloc.h."""


def are_set_aside() -> bool:
    """Whether blocks that are freed now are set aside by their sizes, and do not join."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.mallinfo2.restype = _Mallinfo2
    blocks = [libc.malloc(56) for _ in range(1000)]
    for block in blocks:
        libc.free(ctypes.c_void_p(block))
    # While the list is there: freeing it would tidy up. A few blocks stay with the thread.
    return int(libc.mallinfo2().smblks) > 900


def _sets_blocks_aside() -> bool:
    name, version = platform.libc_ver()
    return name == "glibc" and (2, 33) <= tuple(map(int, version.split("."))) < (2, 43)


needs_old_glibc = pytest.mark.skipif(
    not _sets_blocks_aside(), reason="needs glibc 2.33 to 2.42, which has bins and mallinfo2"
)
