import socket
import threading
from collections.abc import Iterator

import pytest
from msgspec import Raw

from fxdap.wire.client import ConnectionEnded, DapClient, RequestFailed
from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Event, Request, Response
from fxdap.wire.messages import (
    OutputEventBody,
    RunInTerminalRequestArguments,
    RunInTerminalResponseBody,
    Thread,
    ThreadsResponseBody,
)


class Server:
    """The other end of a client's connection, played by the test."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        self.connection = Connection.over_socket(self.socket)
        self.client = DapClient(Connection.over_socket(theirs))

    def read_request(self) -> Request:
        message = self.connection.read()
        assert isinstance(message, Request)
        return message

    def output(self, text: str) -> None:
        self.connection.send_event("output", OutputEventBody(category="stdout", output=text))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.client.close()
    server.connection.close()


def test_answers_are_typed_and_found_by_their_number(server: Server) -> None:
    first, second = server.client.send("threads"), server.client.send("threads")
    requests = [server.read_request(), server.read_request()]
    server.connection.respond(requests[1], ThreadsResponseBody(threads=[Thread(id=2, name="b")]))
    server.connection.respond(requests[0], ThreadsResponseBody(threads=[]))
    assert server.client.wait_response(second).threads == [Thread(id=2, name="b")]
    assert server.client.wait_response(first).threads == []


def test_a_failed_request_raises_with_the_message_and_the_body(server: Server) -> None:
    seq = server.client.send("evaluate", {"expression": "x"})
    server.connection.fail(server.read_request(), "no x here")
    with pytest.raises(RequestFailed, match="evaluate: no x here") as caught:
        server.client.wait_response(seq)
    assert caught.value.body.error is not None
    assert caught.value.body.error.variables == {"_message": "no x here"}


def test_events_are_taken_in_order_and_all_are_kept(server: Server) -> None:
    for text in "abc":
        server.output(text)
    server.connection.send_event("terminated")
    client = server.client
    assert client.wait_event("output").output == "a"
    assert client.wait_event("output", where=lambda body: body.output == "c").output == "c"
    client.wait_event("terminated")
    assert client.wait_event("output").output == "b"
    assert client.output("stdout") == "abc"
    assert [(event.name, event.order) for event in client.events] == [
        ("output", 1),
        ("output", 2),
        ("output", 3),
        ("terminated", 4),
    ]


def test_the_next_event_comes_whatever_it_is(server: Server) -> None:
    server.output("a")
    server.connection.send_event("initialized")
    received = [server.client.next_event(10), server.client.next_event(10)]
    assert [event.name for event in received if event] == ["output", "initialized"]


def test_waiting_has_a_limit_and_says_what_came_instead(server: Server) -> None:
    server.connection.send_event("initialized")
    server.client.wait_event("initialized")
    with pytest.raises(TimeoutError, match=r"no event 'stopped' within .* were: initialized"):
        server.client.wait_event("stopped", timeout=0.01)


def test_a_closed_connection_ends_every_wait(server: Server) -> None:
    server.connection.close()
    with pytest.raises(ConnectionEnded, match="the connection was closed"):
        server.client.wait_event("stopped")


def test_a_number_out_of_order_is_a_violation(server: Server) -> None:
    text = b'{"seq":8,"type":"event","event":"initialized"}'
    server.socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
    with pytest.raises(ConnectionEnded, match="seq 8 where 1 was due"):
        server.client.wait_event("stopped")


def test_a_body_of_the_wrong_shape_is_a_violation(server: Server) -> None:
    server.connection.forward(Event(seq=1, event="stopped", body=Raw(b'{"reason":5}')))
    with pytest.raises(ConnectionEnded, match=r"expected `str`|Expected `str`"):
        server.client.wait_event("stopped")


def test_a_reverse_request_is_served_by_the_handler(server: Server) -> None:
    seen = threading.Event()

    def serve(request: Request) -> RunInTerminalResponseBody:
        seen.set()
        return RunInTerminalResponseBody(process_id=7)

    server.client.on_reverse_request = serve
    arguments = RunInTerminalRequestArguments(cwd="/", args=["a"])
    server.connection.request("runInTerminal", arguments)
    answer = server.connection.read()
    assert isinstance(answer, Response)
    assert (answer.success, bytes(answer.body)) == (True, b'{"processId":7}')
    assert seen.is_set()


def test_a_reverse_request_without_a_handler_is_refused(server: Server) -> None:
    server.connection.request("startDebugging")
    answer = server.connection.read()
    assert isinstance(answer, Response)
    assert answer.success is False
