"""Who is at the other end of a connection from the same machine."""

import os
import socket
import sys
from collections.abc import Iterable

_TABLE = "/proc/net/tcp"


def is_same_user(sock: socket.socket) -> bool:
    """Whether the peer of a loopback connection is a process of this user, or of root.

    True where the system does not tell (it does on Linux).
    """
    try:
        with open(_TABLE, encoding="ascii") as table:
            user = owner(table, sock.getpeername(), sock.getsockname())
    except OSError:
        return True
    return user in (None, 0, os.getuid())


def owner(table: Iterable[str], local: tuple[str, int], remote: tuple[str, int]) -> int | None:
    """The user id of the socket between two IPv4 addresses, from the kernel's table."""
    wanted = [_hex(local), _hex(remote)]
    for line in table:
        words = line.split()
        if words[1:3] == wanted:
            return int(words[7])
    return None


def _hex(address: tuple[str, int]) -> str:
    host, port = address
    number = int.from_bytes(socket.inet_aton(host), sys.byteorder)
    return f"{number:08X}:{port:04X}"
