import io
import socket
import threading
from collections.abc import Iterator

import msgspec
import pytest
from msgspec import Raw

from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Event, Request, Response, encode
from fxdap.wire.errors import RequestError
from fxdap.wire.framing import FrameReader
from fxdap.wire.log import WireLog
from fxdap.wire.messages import ThreadsResponseBody


def framed(text: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)


def request(seq: int, command: str = "threads") -> bytes:
    return framed(encode(Request(seq=seq, command=command)))


class Exchange:
    """A connection that reads given bytes; `sent` is what it wrote meanwhile."""

    def __init__(self, data: bytes = b"") -> None:
        self._output = io.BytesIO()
        self.connection = Connection(io.BytesIO(data), self._output)

    @property
    def sent(self) -> list[dict[str, object]]:
        reader = FrameReader(io.BytesIO(self._output.getvalue()))
        found = []
        while (text := reader.read()) is not None:
            assert isinstance(text, bytes)
            found.append(msgspec.json.decode(text, type=dict[str, object]))
        return found


@pytest.fixture
def pair() -> Iterator[tuple[Connection, Connection]]:
    left, right = socket.socketpair()
    connections = Connection.over_socket(left), Connection.over_socket(right)
    yield connections
    for connection in connections:
        connection.close()


def test_what_one_side_sends_the_other_reads(pair: tuple[Connection, Connection]) -> None:
    left, right = pair
    seq = left.request("threads")
    received = right.read()
    assert received == Request(seq=1, command="threads")
    assert seq == 1
    assert isinstance(received, Request)
    right.respond(received, ThreadsResponseBody(threads=[]))
    answer = left.read()
    assert isinstance(answer, Response)
    assert (answer.seq, answer.request_seq, answer.success) == (1, 1, True)
    assert bytes(answer.body) == b'{"threads":[]}'
    right.send_event("initialized")
    assert left.read() == Event(seq=2, event="initialized")


def test_closing_ends_the_read_of_another_thread(pair: tuple[Connection, Connection]) -> None:
    left, _ = pair
    results: list[object] = []
    reader = threading.Thread(target=lambda: results.append(left.read()))
    reader.start()
    left.close()
    reader.join(10)
    assert results == [None]


def test_sends_to_a_peer_that_is_gone_are_dropped(pair: tuple[Connection, Connection]) -> None:
    left, right = pair
    right.close()
    for _ in range(3):
        left.send_event("initialized")
    assert left.read() is None


def test_numbers_count_up_without_a_gap_whichever_thread_sends() -> None:
    exchange = Exchange()

    def send_many() -> None:
        for _ in range(100):
            exchange.connection.send_event("initialized")

    threads = [threading.Thread(target=send_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [message["seq"] for message in exchange.sent] == list(range(1, 401))


def test_a_relayed_message_gets_new_numbers_and_keeps_its_payload() -> None:
    exchange = Exchange()
    exchange.connection.send_event("initialized")
    told: list[int] = []
    body = Raw(b'{"a":[1,{"b":"\xc3\xa4"}]}')
    response = Response(seq=77, request_seq=5, success=False, command="x", message="m", body=body)
    exchange.connection.forward(response, request_seq=9, told=told.append)
    assert told == [2]
    assert exchange.sent[1] == {
        "type": "response",
        "seq": 2,
        "request_seq": 9,
        "success": False,
        "command": "x",
        "message": "m",
        "body": {"a": [1, {"b": "ä"}]},
    }


def test_an_error_is_shown_as_it_is_even_with_braces() -> None:
    exchange = Exchange(request(3))
    received = exchange.connection.read()
    assert isinstance(received, Request)
    exchange.connection.fail(received, RequestError("no {name}", show_user=True, id=12))
    assert exchange.sent == [
        {
            "type": "response",
            "seq": 1,
            "request_seq": 3,
            "success": False,
            "command": "threads",
            "message": "no {name}",
            "body": {
                "error": {
                    "id": 12,
                    "format": "{_message}",
                    "variables": {"_message": "no {name}"},
                    "showUser": True,
                }
            },
        }
    ]


@pytest.mark.parametrize(
    ("text", "seq", "command", "reason"),
    [
        (framed(b"[1,2]"), 5, "unknown", "not a protocol message: expected `object`, got `array`"),
        (framed(b"null"), 5, "unknown", "not a protocol message: expected `object`, got `null`"),
        (framed(b""), 5, "unknown", "not valid JSON: input data was truncated"),
        (
            framed(b'{"seq":9,"type":"request","command":"next"'),
            9,
            "next",
            "not valid JSON: input data was truncated",
        ),
        (
            framed(b'{"seq":9,"type":"request","command":"next","arguments":{"a":"\xff"}}'),
            9,
            "next",
            "not valid UTF-8: invalid start byte at byte 61",
        ),
        (
            framed(b'{"seq":"9","type":"request","command":"next"}'),
            5,
            "next",
            "not a protocol message: expected `int`, got `str` - at `$.seq`",
        ),
        (
            framed(b'{"seq":9,"type":"reqest","command":"next"}'),
            9,
            "next",
            "not a protocol message: invalid value 'reqest' - at `$.type`",
        ),
        (
            framed(b'{"seq":9,"type":"request"}'),
            9,
            "unknown",
            "not a protocol message: object missing required field `command`",
        ),
        (
            framed(b'{"seq":9,"type":"request","command":"x","arguments":' + b"[" * 90000 + b"}"),
            9,
            "x",
            "not a protocol message: nested too deeply",
        ),
        (b'{"seq":9,"type":"request","command":"next"}', 9, "next", "expected a Content-Length"),
        (b"Content-Length: -1\r\n\r\n", 5, "unknown", "Content-Length is no number of bytes"),
    ],
)
def test_unreadable_input_is_answered_and_reading_goes_on(
    text: bytes, seq: int, command: str, reason: str
) -> None:
    exchange = Exchange(request(4) + text + request(6))
    received = [exchange.connection.read() for _ in range(3)]
    assert received == [
        Request(seq=4, command="threads"),
        Request(seq=6, command="threads"),
        None,
    ]
    (answer,) = exchange.sent
    assert answer["type"] == "response"
    assert answer["success"] is False
    assert (answer["request_seq"], answer["command"]) == (seq, command)
    assert str(answer["message"]).startswith(f"unreadable message: {reason}")


def test_a_message_cut_in_two_by_its_length_is_answered_once() -> None:
    text = b'{"seq":5,"type":"request","command":"next"}'
    exchange = Exchange(b"Content-Length: 20\r\n\r\n" + text + request(6))
    assert exchange.connection.read() == Request(seq=6, command="threads")
    assert [message["request_seq"] for message in exchange.sent] == [5]


def test_the_first_answer_to_garbage_is_numbered_one() -> None:
    exchange = Exchange(b"{}" + framed(b"[]"))
    assert exchange.connection.read() is None
    assert [message["request_seq"] for message in exchange.sent] == [1, 2]


def test_the_log_holds_both_directions(tmp_path: "pytest.TempPathFactory") -> None:
    log = WireLog(str(tmp_path), "adapter")
    connection = Connection(io.BytesIO(request(1)), io.BytesIO(), name="client", log=log)
    connection.read()
    connection.send_event("initialized")
    log.close()
    with open(log.path, encoding="utf-8") as file:
        received, sent = file.read().splitlines()
    assert received.endswith('client -> {"type":"request","seq":1,"command":"threads"}')
    assert sent.endswith('client <- {"type":"event","seq":1,"event":"initialized"}')
