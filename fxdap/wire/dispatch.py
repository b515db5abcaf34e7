"""From a request to its typed arguments, and from a response to its typed body."""

from typing import TypeVar

from msgspec import DecodeError, Raw, Struct, ValidationError
from msgspec.json import decode

from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.extras import EXTRAS
from fxdap.wire.messages import REQUESTS, REVERSE_REQUESTS, RequestSpec

Payload = TypeVar("Payload", bound=Struct)

_INVALID_ID = 4
_NOTHING = (b"", b"null")


class NoArguments(Struct, frozen=True):
    """The arguments of a request that has none."""


def request_spec(command: str) -> RequestSpec | None:
    """The types of a command's payloads; None for a command of neither the protocol nor ours."""
    return REQUESTS.get(command) or REVERSE_REQUESTS.get(command) or EXTRAS.get(command)


def decode_arguments(request: Request) -> Struct:
    """The arguments as the Struct of the request's command; raises RequestError with the path."""
    spec = request_spec(request.command)
    if spec is None:
        raise RequestError(f"unknown request {request.command!r}")
    return decode_as(request, spec.arguments or NoArguments)


def decode_as(request: Request, kind: type[Payload]) -> Payload:
    """The arguments of a request as `kind`."""
    text: bytes | memoryview = memoryview(request.arguments)
    if text in _NOTHING:
        text = b"{}"
    try:
        return decode(text, type=kind)
    except ValidationError as error:
        reason = _located(str(error))
    except DecodeError as error:
        reason = f"not valid JSON: {error}"
    except RecursionError:
        reason = "nested too deeply"
    raise RequestError(
        f"invalid arguments for request {request.command!r}: {reason}", id=_INVALID_ID
    )


def decode_body(kind: type[Payload], body: Raw) -> Payload:
    """The body of a response or event as `kind`; raises msgspec's errors."""
    text: bytes | memoryview = memoryview(body)
    return decode(b"{}" if text in _NOTHING else text, type=kind)


def _located(reason: str) -> str:
    """msgspec's text with its path in the form `at $.breakpoints[0].line`."""
    text, _, path = reason.partition(" - at `")
    return f"{_lowered(text)} at {path.rstrip('`') or '$'}"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
