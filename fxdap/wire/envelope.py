"""The three kinds of protocol messages, with their payloads left as raw JSON."""

import re

from msgspec import DecodeError, Raw, Struct, ValidationError
from msgspec.json import Decoder, Encoder

from fxdap.wire.errors import MalformedError

ABSENT = Raw(b"")
"""The payload of a message that carries none."""


class Request(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower
):
    """A command of one peer to the other; `arguments` is decoded by who serves it."""

    seq: int
    command: str
    arguments: Raw = ABSENT


class Response(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower
):
    """The one answer to the request numbered `request_seq`."""

    seq: int
    request_seq: int
    success: bool
    command: str
    message: str | None = None
    body: Raw = ABSENT


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """Something one peer tells the other unasked."""

    seq: int
    event: str
    body: Raw = ABSENT


Message = Request | Response | Event

_decoder = Decoder(Message)
_encoder = Encoder()
_SEQ = re.compile(rb'"seq"\s*:\s*(\d{1,9})(?!\d)')
_COMMAND = re.compile(rb'"command"\s*:\s*"([A-Za-z]{1,40})"')


def decode(text: bytes) -> Message:
    """Read one message; raises MalformedError that says what is wrong, and where."""
    if not text.isascii():
        _require_utf8(text)
    try:
        return _decoder.decode(text)
    except ValidationError as error:
        raise malformed(f"not a protocol message: {_lowered(error)}", text) from None
    except DecodeError as error:
        raise malformed(f"not valid JSON: {_lowered(error)}", text) from None
    except RecursionError:
        raise malformed("not a protocol message: nested too deeply", text) from None


def encode(message: Message) -> bytes:
    """The JSON text of one message."""
    return _encoder.encode(message)


def payload(body: Struct | None) -> Raw:
    """The raw JSON of a payload."""
    return ABSENT if body is None else Raw(_encoder.encode(body))


def malformed(message: str, text: bytes) -> MalformedError:
    """The error for unreadable `text`, with the seq and command that still show in it."""
    seq = _SEQ.search(text)
    command = _COMMAND.search(text)
    return MalformedError(
        message,
        seq=int(seq[1]) if seq else None,
        command=command[1].decode() if command else None,
    )


def _require_utf8(text: bytes) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise malformed(f"not valid UTF-8: {error.reason} at byte {error.start}", text) from None


def _lowered(error: Exception) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]
