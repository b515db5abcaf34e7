import os
import socket

from fxdap.adapter.peer import is_same_user, owner

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1007        0 34 1
"""


def test_the_owner_of_a_connection_is_found_by_both_ends() -> None:
    lines = TABLE.splitlines()
    assert owner(lines, ("127.0.0.1", 50000), ("127.0.0.1", 8080)) == 1007
    assert owner(lines, ("127.0.0.1", 50001), ("127.0.0.1", 8080)) is None


def test_a_connection_of_ones_own_is_recognised() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        accepted, _ = listener.accept()
        with accepted, open("/proc/net/tcp") as table:
            assert owner(table, accepted.getpeername(), accepted.getsockname()) == os.getuid()
            assert is_same_user(accepted)
