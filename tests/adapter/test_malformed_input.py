"""Input that ends or silences other adapters: each gets its answer, and the session goes on."""

import msgspec
import pytest

from fxdap.wire.messages import ThreadsResponseBody
from tests.adapter.conftest import RawPeer, framed


def body(text: bytes, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    return header % len(text) + text


THREADS = b'{"seq":2,"type":"request","command":"threads"}'

REFUSED = {
    "unknown request": (framed(2, "flyAway"), "unknown request 'flyAway'"),
    "mistyped breakpoints": (
        framed(2, "setBreakpoints", {"source": {"path": "a.py"}, "breakpoints": 7}),
        "expected `array | null`, got `int` at $.breakpoints",
    ),
    "stackTrace before launch": (
        framed(2, "stackTrace", {"threadId": 1}),
        "launch or attach first",
    ),
    "evaluate before launch": (
        framed(2, "evaluate", {"expression": "1"}),
        "launch or attach first",
    ),
    "no arguments": (
        framed(2, "setBreakpoints"),
        "object missing required field `source` at $",
    ),
    "second initialize": (
        framed(2, "initialize", {"adapterID": "fxdap"}),
        "'initialize' was answered already",
    ),
    "array": (body(b"[1,2]"), "expected `object`, got `array`"),
    "number": (body(b"7"), "expected `object`, got `int`"),
    "invalid JSON": (body(b'{"seq":2,"type":'), "not valid JSON"),
    "empty body": (body(b""), "not valid JSON"),
    "invalid UTF-8": (
        body(b'{"seq":2,"type":"request","command":"evaluate","arguments":{"expression":"\xff"}}'),
        "not valid UTF-8",
    ),
    "lone surrogate": (
        body(
            rb'{"seq":2,"type":"request","command":"evaluate","arguments":{"expression":"\ud800"}}'
        ),
        "not valid JSON",
    ),
    "no header": (THREADS, "expected a Content-Length header"),
    "no length": (b"Content-Type: x\r\n\r\n" + THREADS, "the header has no Content-Length"),
    "negative length": (
        b"Content-Length: -46\r\n\r\n" + THREADS,
        "Content-Length is no number of bytes: '-46'",
    ),
    "huge length": (b"Content-Length: 99999999999\r\n\r\n" + THREADS, "is over 67108864"),
    "seq as text": (
        body(b'{"seq":"2","type":"request","command":"threads"}'),
        "expected `int`, got `str` - at `$.seq`",
    ),
    "no type": (body(b'{"seq":2,"command":"threads"}'), "missing required field `type`"),
    "deep nesting": (
        body(b'{"seq":2,"type":"request","command":"threads","arguments":' + b"[" * 50000 + b"}"),
        "nested too deeply",
    ),
    "goto before launch": (framed(2, "goto", {"threadId": 1, "targetId": 1}), "launch or attach"),
}

ACCEPTED = {
    "lowercase header": body(THREADS, b"content-length: %d\r\n\r\n"),
    "extra header": body(THREADS, b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"),
    "unknown fields": body(b'{"seq":2,"type":"request","command":"threads","x":{"y":[1]}}'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_malformed_input_is_refused_and_the_session_goes_on(raw_peer: RawPeer, case: str) -> None:
    text, reason = REFUSED[case]
    assert raw_peer.ask(1, "initialize", {"adapterID": "fxdap"}).success is True
    raw_peer.send(text)
    answer = raw_peer.read()
    assert (answer.success, answer.request_seq) == (False, 2)
    assert answer.message is not None
    assert reason in answer.message
    alive = raw_peer.ask(3, "threads")
    assert (alive.success, alive.request_seq) == (True, 3)
    assert msgspec.json.decode(alive.body, type=ThreadsResponseBody).threads == []


@pytest.mark.parametrize("case", ACCEPTED)
def test_unusual_input_is_served(raw_peer: RawPeer, case: str) -> None:
    assert raw_peer.ask(1, "initialize", {"adapterID": "fxdap"}).success is True
    raw_peer.send(ACCEPTED[case])
    answer = raw_peer.read()
    assert (answer.success, answer.request_seq) == (True, 2)


def test_all_of_it_one_after_the_other_leaves_a_working_session(raw_peer: RawPeer) -> None:
    assert raw_peer.ask(1, "initialize", {"adapterID": "fxdap"}).success is True
    for text, _ in REFUSED.values():
        raw_peer.send(text)
        assert raw_peer.read().success is False
    assert raw_peer.ask(3, "threads").success is True
    assert raw_peer.ask(4, "disconnect").success is True


def test_nothing_is_served_before_initialize(raw_peer: RawPeer) -> None:
    answer = raw_peer.ask(1, "threads")
    assert (answer.success, answer.message) == (False, "send 'initialize' first")
    assert raw_peer.ask(2, "initialize", {}).success is False
    assert raw_peer.ask(3, "initialize", {"adapterID": "fxdap"}).success is True


def test_questions_before_launch_get_an_empty_answer_at_once(raw_peer: RawPeer) -> None:
    assert raw_peer.ask(1, "initialize", {"adapterID": "fxdap"}).success is True
    source = {"source": {"path": "a.py"}, "line": 1}
    assert bytes(raw_peer.ask(2, "breakpointLocations", source).body) == b'{"breakpoints":[]}'
    assert bytes(raw_peer.ask(3, "threads").body) == b'{"threads":[]}'
    assert bytes(raw_peer.ask(4, "loadedSources").body) == b'{"sources":[]}'
    info = msgspec.json.decode(raw_peer.ask(5, "dataBreakpointInfo", {"name": "x"}).body)
    assert info == {"dataId": None, "description": "no graph is being debugged"}
    assert raw_peer.ask(6, "cancel", {"requestId": 4}).success is True
