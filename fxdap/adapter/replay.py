"""What a client has configured, to configure a restarted debuggee in the same way."""

from collections.abc import Iterator

from msgspec import Raw

from fxdap.wire.dispatch import decode_as
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import SetBreakpointsArguments

REMEMBERED = {"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"}


class ReplayLog:
    """The last breakpoint request of each kind, and of each source."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, str], Raw] = {}

    def note(self, request: Request) -> None:
        """Remember a request of `REMEMBERED` that is passed on."""
        try:
            key = (request.command, _source_of(request))
        except RequestError:  # the debuggee answers it with an error, too
            return
        self._requests[key] = request.arguments.copy()

    def __iter__(self) -> Iterator[tuple[str, Raw]]:
        """Command and arguments of each, in the order in which they first came."""
        for (command, _), arguments in list(self._requests.items()):
            yield command, arguments


def _source_of(request: Request) -> str:
    if request.command != "setBreakpoints":
        return ""
    source = decode_as(request, SetBreakpointsArguments).source
    return source.path or f"{source.source_reference}:{source.name}"
