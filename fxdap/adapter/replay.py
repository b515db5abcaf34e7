"""What a client has configured, to configure a restarted debuggee in the same way."""

from collections.abc import Iterator

from msgspec import Raw
from msgspec.json import encode
from msgspec.structs import replace

from fxdap.wire.dispatch import decode_as, decode_body
from fxdap.wire.envelope import Request, Response
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Breakpoint,
    SetBreakpointsArguments,
    SetBreakpointsResponseBody,
    SourceBreakpoint,
)

REMEMBERED = {"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"}

_Key = tuple[str, str]


class ReplayLog:
    """The last breakpoint request of each kind, and of each source.

    Breakpoints of a source stand at the lines that the client was told last: a listing may have
    been written anew, and then the lines that it asked for are those of the text before.
    """

    def __init__(self) -> None:
        self._requests: dict[_Key, Raw] = {}
        self._sources: dict[_Key, SetBreakpointsArguments] = {}
        self._told: dict[_Key, list[Breakpoint]] = {}

    def note(self, request: Request) -> None:
        """Remember a request of `REMEMBERED` that is passed on."""
        key = (request.command, "")
        if request.command == "setBreakpoints":
            try:
                arguments = decode_as(request, SetBreakpointsArguments)
            except RequestError:  # the debuggee answers it with an error, too
                return
            key = _source_key(arguments)
            self._sources[key] = arguments
            self._told.pop(key, None)
        self._requests[key] = request.arguments.copy()

    def answered(self, request: Request, answer: Response) -> None:
        """The client is told where the breakpoints of a noted `setBreakpoints` are."""
        if answer.success:
            key = _source_key(decode_as(request, SetBreakpointsArguments))
            self._told[key] = decode_body(SetBreakpointsResponseBody, answer.body).breakpoints

    def changed(self, breakpoint: Breakpoint) -> None:
        """The client is told that a breakpoint has moved."""
        for told in self._told.values():
            for index, known in enumerate(told):
                if known.id == breakpoint.id:
                    told[index] = breakpoint

    def __iter__(self) -> Iterator[tuple[str, Raw]]:
        """Command and arguments of each, in the order in which they first came."""
        for key, arguments in list(self._requests.items()):
            yield key[0], self._moved(key) if self._told.get(key) else arguments

    def _moved(self, key: _Key) -> Raw:
        arguments, told = self._sources[key], self._told[key]
        wanted = arguments.breakpoints or [SourceBreakpoint(line=n) for n in arguments.lines or []]
        lines = [b.line for b in told] + [None] * (len(wanted) - len(told))
        moved = [
            replace(each, line=line) if line is not None else each
            for each, line in zip(wanted, lines, strict=False)
        ]
        return Raw(encode(replace(arguments, breakpoints=moved, lines=None)))


def _source_key(arguments: SetBreakpointsArguments) -> _Key:
    source = arguments.source
    return "setBreakpoints", source.path or f"{source.source_reference}:{source.name}"
