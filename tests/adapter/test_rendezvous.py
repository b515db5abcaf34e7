import socket
import threading
from collections.abc import Iterator

import pytest

from fxdap.adapter.rendezvous import Hello, Rendezvous
from fxdap.wire.connection import Connection


class Host:
    """A rendezvous that notes who arrived."""

    def __init__(self) -> None:
        self.arrived: list[Hello] = []
        self._changed = threading.Condition()
        self.rendezvous = Rendezvous({"fxdapHello": self._note}, None)

    def call(self, first: bytes) -> socket.socket:
        host, _, port = self.rendezvous.address.rpartition(":")
        sock = socket.create_connection((host, int(port)), timeout=10)
        sock.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(first), first))
        return sock

    def hello(self, token: str, event: str = "fxdapHello") -> bytes:
        text = f'{{"seq":1,"type":"event","event":"{event}","body":{{"token":"{token}","pid":7}}}}'
        return text.encode()

    def wait_arrivals(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.arrived) == count, 10)

    def _note(self, connection: Connection, hello: Hello) -> None:
        with self._changed:
            self.arrived.append(hello)
            self._changed.notify_all()
        connection.close()


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.rendezvous.close()


def test_who_shows_the_token_arrives(host: Host) -> None:
    with host.call(host.hello(host.rendezvous.token)):
        host.wait_arrivals(1)
    assert host.arrived == [Hello(token=host.rendezvous.token, pid=7)]


@pytest.mark.parametrize(
    "first",
    [
        '{"seq":1,"type":"event","event":"fxdapHello","body":{"token":"guess","pid":7}}',
        '{"seq":1,"type":"event","event":"fxdapHello","body":{"token":5}}',
        '{"seq":1,"type":"event","event":"fxdapHello"}',
        '{"seq":1,"type":"request","command":"initialize"}',
    ],
)
def test_who_does_not_is_turned_away(host: Host, first: str) -> None:
    with host.call(first.encode()) as sock:
        while sock.recv(1000):
            pass
    assert host.arrived == []


def test_a_silent_stranger_holds_up_nobody(host: Host) -> None:
    name, _, port = host.rendezvous.address.rpartition(":")
    with (
        socket.create_connection((name, int(port)), timeout=10),
        host.call(host.hello(host.rendezvous.token)),
    ):
        host.wait_arrivals(1)


def test_the_token_is_good_once(host: Host) -> None:
    with host.call(host.hello(host.rendezvous.token)):
        host.wait_arrivals(1)
    with host.call(host.hello(host.rendezvous.token)) as sock:
        assert sock.recv(1000) == b""
    assert len(host.arrived) == 1
