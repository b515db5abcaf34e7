"""A flood of log messages as few events: a client takes one text faster than a thousand events."""

from collections.abc import Iterator
from time import monotonic, sleep

from msgspec import MsgspecError
from msgspec.structs import replace

from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body
from fxdap.wire.envelope import Event, Message, payload
from fxdap.wire.messages import OutputEventBody

LONGEST = 64 * 1024
"""Characters of one text."""

_FLOOD_S = 0.005  # between two of them
_PAUSE_S = 0.002


def batched(connection: Connection) -> Iterator[Message]:
    """What a debuggee sends, in order; log messages that are there already come as one.

    Each goes on at once. In a flood the next are read a little later, all together: to wake up for
    each of them takes this process, the client and the debuggee longer than what it says.
    """
    held: _Held | None = None
    last = 0.0
    while (message := connection.read()) is not None:
        body = _log_message(message)
        if held is not None and (body is None or not held.takes(body)):
            yield held.event()
            held = None
        if body is None:
            yield message
        elif held is None:
            held = _Held(message, body)
        else:
            held.add(body)
        if held is not None and not connection.has_more:
            yield held.event()
            held = None
            now = monotonic()
            if now - last < _FLOOD_S:
                sleep(_PAUSE_S)
            last = now
    if held is not None:
        yield held.event()


class _Held:
    """Log messages that become one event: of one line, or of a listing on the line of the first."""

    def __init__(self, message: Message, body: OutputEventBody) -> None:
        self._message = message
        self._body = body
        self._texts = [body.output]
        self._length = len(body.output)

    def takes(self, body: OutputEventBody) -> bool:
        """Whether another may come with these."""
        same = (self._body.category, self._body.source) == (body.category, body.source)
        place = self._body.line == body.line or _in_listing(body)
        return same and place and self._length + len(body.output) <= LONGEST

    def add(self, body: OutputEventBody) -> None:
        self._texts.append(body.output)
        self._length += len(body.output)

    def event(self) -> Message:
        if len(self._texts) == 1:
            return self._message
        return replace(
            self._message, body=payload(replace(self._body, output="".join(self._texts)))
        )


def _in_listing(body: OutputEventBody) -> bool:
    """Whether a log point wrote this; what is said of a line of the user's source stays there."""
    return body.source is not None and (body.source.path or "").endswith(".fxgraph")


def _log_message(message: Message) -> OutputEventBody | None:
    if not isinstance(message, Event) or message.event != "output":
        return None
    try:
        body = decode_body(OutputEventBody, message.body)
    except MsgspecError:  # the client may know better
        return None
    plain = body.group is None and body.variables_reference is None
    return body if plain and body.source is not None else None
