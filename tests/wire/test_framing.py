import io
import random

import pytest

from fxdap.wire.framing import MAX_LENGTH, FrameReader, Malformed

TEXT = b'{"seq":1,"type":"request","command":"threads"}'


def frame(body: bytes = TEXT) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def read_all(data: bytes, strict_start: bool = False) -> list[bytes | Malformed]:
    reader = FrameReader(io.BytesIO(data), strict_start)
    found = []
    while (item := reader.read()) is not None:
        found.append(item)
    return found


class Trickle(io.RawIOBase):
    """A stream that gives its data in the pieces it was made of."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = list(pieces)

    def read(self, size: int = -1) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


def read_pieces(pieces: list[bytes]) -> list[bytes | Malformed]:
    reader = FrameReader(Trickle(pieces))  # type: ignore[arg-type]
    found = []
    while (item := reader.read()) is not None:
        found.append(item)
    return found


@pytest.mark.parametrize(
    "data",
    [
        frame(),
        b"content-length: 46\r\n\r\n" + TEXT,
        b"CONTENT-LENGTH:46\r\n\r\n" + TEXT,
        b"Content-Length:   46  \r\n\r\n" + TEXT,
        b"Content-Type: application/json; charset=utf-8\r\nContent-Length: 46\r\n\r\n" + TEXT,
        b"Content-Length: 46\r\nContent-Type: x\r\n\r\n" + TEXT,
        b"X-Odd: \xff\xfe\r\nContent-Length: 46\r\n\r\n" + TEXT,
        b"Content-Length: 46\n\n" + TEXT,
        b"\r\n\r\n" + frame(),
    ],
)
def test_every_spelling_of_a_header_gives_the_body(data: bytes) -> None:
    assert read_all(data + frame()) == [TEXT, TEXT]


@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        (TEXT, "expected a Content-Length header"),
        (b"[1,2]", "expected a Content-Length header"),
        (b"\x00\x01\x02", "expected a Content-Length header"),
        (b"\r\n\r\n" + TEXT, "expected a Content-Length header"),
        (b"Content-Type: x\r\n\r\n" + TEXT, "the header has no Content-Length"),
        (b"Content-Length: -46\r\n\r\n" + TEXT, "Content-Length is no number of bytes: '-46'"),
        (b"Content-Length: x\r\n\r\n" + TEXT, "Content-Length is no number of bytes: 'x'"),
        (b"Content-Length:\r\n\r\n" + TEXT, "Content-Length is no number of bytes: ''"),
        (b"Content-Length: 4.6\r\n\r\n" + TEXT, "Content-Length is no number of bytes: '4.6'"),
        (
            b"Content-Length: 99999999999999999999\r\n\r\n" + TEXT,
            f"Content-Length '99999999999999999999' is over {MAX_LENGTH}",
        ),
        (
            b"Content-Length: 50\r\n\r\n" + TEXT,
            "Content-Length is 50, but the body has 46 bytes",
        ),
        (
            b"Content-Length: 5000\r\n\r\n" + TEXT,
            "Content-Length is 5000, but the body has 46 bytes",
        ),
        (b"hello\r\n", "expected a Content-Length header, got 'hello'"),
        (b"hello\r\n\r\n", "expected a Content-Length header, got 'hello'"),
        (b"X: 1\r\nhello\r\n\r\n", "not a header line: 'hello'"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "expected a Content-Length header"),
        (b"A" * 9000 + b"\r\n", "expected a Content-Length header, got '" + "A" * 60 + "...'"),
        (b"A" * 70000, "the header is longer than 8192 bytes"),
    ],
)
def test_garbage_is_reported_once_and_the_next_frame_is_read(garbage: bytes, reason: str) -> None:
    found = read_all(garbage + frame())
    assert [type(item) for item in found] == [Malformed, bytes]
    assert isinstance(found[0], Malformed)
    assert found[0].reason.startswith(reason)
    assert found[1] == TEXT


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_a_frame_cut_anywhere_gives_the_same_bodies(size: int) -> None:
    data = frame() + frame(b'{"n":"\xc3\xa4"}') + frame(b"")
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert read_pieces(pieces) == [TEXT, b'{"n":"\xc3\xa4"}', b""]


def test_a_header_without_length_is_reported_before_anything_follows_it() -> None:
    reader = FrameReader(Trickle([b"Content-Type: x\r\n\r\n", TEXT, frame()]))  # type: ignore[arg-type]
    assert reader.read() == Malformed(
        "the header has no Content-Length", b"Content-Type: x\r\n\r\n"
    )
    assert reader.read() == TEXT


def test_each_bare_message_is_reported_when_they_come_one_by_one() -> None:
    found = read_pieces([TEXT, TEXT, frame()])
    assert [type(item) for item in found] == [Malformed, Malformed, bytes]


def test_a_body_longer_than_announced_leaves_garbage_that_is_skipped() -> None:
    found = read_all(b"Content-Length: 10\r\n\r\n" + TEXT + frame())
    assert found[0] == TEXT[:10]
    assert isinstance(found[1], Malformed)
    assert found[2] == TEXT


def test_input_that_ends_within_a_body_is_reported() -> None:
    assert read_all(frame()[:-3]) == [Malformed("the input ended within a message", TEXT[:-3])]


def test_a_body_may_speak_of_content_length() -> None:
    body = rb'{"output":"Content-Length: 5\r\n\r\n"}'
    assert read_all(frame(body)) == [body]


@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", b"{}", b"X: 1\r\n\r\n"]
)
def test_a_strict_reader_ends_at_a_start_that_is_no_frame(start: bytes) -> None:
    assert read_all(start + frame(), strict_start=True) == []


def test_a_strict_reader_forgives_once_a_frame_was_read() -> None:
    found = read_all(frame() + b"[1]" + frame(), strict_start=True)
    assert [type(item) for item in found] == [bytes, Malformed, bytes]


def test_random_damage_never_raises_and_whole_frames_at_the_end_arrive() -> None:
    generator = random.Random(5)
    for _ in range(300):
        damaged = bytearray(frame() * 3)
        for _ in range(generator.randint(1, 6)):
            position = generator.randrange(len(damaged))
            if generator.random() < 0.5:
                damaged[position] = generator.randrange(256)
            else:
                del damaged[position : position + generator.randint(1, 30)]
        # A damaged length may swallow what follows; the next header brings the reader back.
        found = read_all(bytes(damaged) + b"}" + frame() + frame())
        assert found[-1] == TEXT
