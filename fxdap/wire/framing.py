"""Splits a byte stream into the bodies of protocol messages, and finds its way back after garbage.

A frame is a header block (`Content-Length: N`, others are ignored), an empty line, N bytes.
"""

import re
from typing import BinaryIO, NamedTuple

MAX_LENGTH = 64 * 1024 * 1024
MAX_HEADER = 8 * 1024
_CHUNK = 64 * 1024
_LONGEST_START = 64

_FIRST_LINE = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]*(?::|\Z)")
_HEADER_LINE = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]*:[^\r\n]*")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH_LINE = re.compile(rb"(?im)^content-length[ \t]*:[ \t]*(.*?)[ \t\r]*$")
_FRAME_START = re.compile(rb"(?i)content-length[ \t]*:[ \t]*-?\d{1,20}[ \t]*\r?\n")


class Malformed(NamedTuple):
    """Bytes that are no frame: why, and what of them has been seen."""

    reason: str
    text: bytes


class FrameReader:
    """Reads one frame at a time; bytes that are none are reported once and skipped.

    With `strict_start` a peer whose very first bytes are no frame is given up: end of stream.
    """

    def __init__(self, stream: BinaryIO, strict_start: bool = False) -> None:
        self._receive = getattr(stream, "read1", stream.read)
        self._buffer = bytearray()
        self._strict = strict_start
        self._skipping = False
        self._ended = False

    def read(self) -> bytes | Malformed | None:
        """The next body, or what stands in its place; None at the end of the stream."""
        if self._skipping and not self._skip_to_start():
            return None
        header = self._read_header()
        found = self._read_body(header) if isinstance(header, int) else header
        if self._strict and not isinstance(found, bytes):
            return None
        self._strict = False
        return found

    @property
    def has_more(self) -> bool:
        """Whether the next frame, or a part of it, is here already."""
        return bool(self._buffer)

    def _read_header(self) -> int | Malformed | None:
        """The length that the header announces; the buffer then starts with the body."""
        while True:
            self._drop_blank_lines()
            if self._buffer and not _FIRST_LINE.match(self._buffer):
                line = bytes(self._buffer[:MAX_HEADER]).splitlines()[0]
                return self._skip(f"expected a Content-Length header, got {_quoted(line)}")
            end = _HEADER_END.search(self._buffer)
            if end:
                return self._parse_header(end.start(), end.end())
            if len(self._buffer) > MAX_HEADER:
                return self._skip(f"the header is longer than {MAX_HEADER} bytes")
            if not self._fill():
                return self._rest()

    def _parse_header(self, end: int, body: int) -> int | Malformed:
        header = bytes(self._buffer[:end])
        for line in header.splitlines():
            if not _HEADER_LINE.fullmatch(line):
                return self._skip(f"not a header line: {_quoted(line)}")
        length = _LENGTH_LINE.search(header)
        if not length:
            return self._skip("the header has no Content-Length")
        value = length[1]
        if not value.isdigit():
            return self._skip(f"Content-Length is no number of bytes: {_quoted(value)}", body)
        if len(value) > 12 or int(value) > MAX_LENGTH:
            return self._skip(f"Content-Length {_quoted(value)} is over {MAX_LENGTH}", body)
        del self._buffer[:body]
        return int(value)

    def _read_body(self, length: int) -> bytes | Malformed | None:
        searched = 0
        while len(self._buffer) < length:
            start = self._header_within(searched, len(self._buffer))
            if start is not None:
                return self._cut_short(start, length)
            searched = max(0, len(self._buffer) - _LONGEST_START)
            if not self._fill():
                return self._rest()
        start = self._header_within(searched, length)
        if start is not None:
            return self._cut_short(start, length)
        body = bytes(memoryview(self._buffer)[:length])
        del self._buffer[:length]
        return body

    def _header_within(self, begin: int, end: int) -> int | None:
        """Where a header starts between the two: the announced length then reaches too far.

        It cannot be part of the body: JSON has no bare line break after such a word.
        """
        if self._buffer.find(b"\n", begin, end) < 0:
            begin = max(begin, end - _LONGEST_START)
        start = _FRAME_START.search(self._buffer, begin, end + _LONGEST_START)
        return start.start() if start and start.start() < end else None

    def _cut_short(self, start: int, length: int) -> Malformed:
        text = bytes(self._buffer[:start])
        del self._buffer[:start]
        return Malformed(f"Content-Length is {length}, but the body has {start} bytes", text)

    def _skip(self, reason: str, search_from: int = 1) -> Malformed:
        """Give up the bytes at hand, as far as the next header if that is among them."""
        start = _FRAME_START.search(self._buffer, search_from)
        end = start.start() if start else len(self._buffer)
        text = bytes(self._buffer[:end])
        # Text that ends like a whole message is one: what follows is no longer the same accident.
        self._skipping = not start and not text.rstrip().endswith((b"}", b"]"))
        kept = max(search_from, end - _LONGEST_START) if self._skipping else end
        del self._buffer[:kept]
        return Malformed(reason, text)

    def _skip_to_start(self) -> bool:
        while True:
            start = _FRAME_START.search(self._buffer)
            if start:
                del self._buffer[: start.start()]
                self._skipping = False
                return True
            del self._buffer[:-_LONGEST_START]
            if not self._fill():
                return False

    def _rest(self) -> Malformed | None:
        if not self._buffer:
            return None
        text = bytes(self._buffer)
        self._buffer.clear()
        return Malformed("the input ended within a message", text)

    def _drop_blank_lines(self) -> None:
        while self._buffer.startswith((b"\r", b"\n")):
            del self._buffer[0]

    def _fill(self) -> bool:
        if self._ended:
            return False
        try:
            chunk = self._receive(_CHUNK)
        except (OSError, ValueError):  # reset by the peer, or closed by another thread
            chunk = None
        self._ended = not chunk
        self._buffer += chunk or b""
        return not self._ended


def _quoted(text: bytes) -> str:
    shown = text[:60].decode("utf-8", "backslashreplace")
    return repr(shown + ("..." if len(text) > 60 else ""))
