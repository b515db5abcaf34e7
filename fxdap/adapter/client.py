"""The client as the adapter speaks to it."""

from collections.abc import Callable

from msgspec import Struct

from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Event, Request, Response
from fxdap.wire.messages import (
    Breakpoint,
    BreakpointEventBody,
    ContinuedEventBody,
    ExitedEventBody,
    OutputEventBody,
)

Answer = Callable[[Response | None], None]


class Client:
    """Sends to the client, and knows what the client was asked and has not answered yet.

    Threads: any thread sends; the client thread brings the answers.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.fail = connection.fail
        self.forward = connection.forward
        self.respond = connection.respond
        self._asked: dict[int, Answer] = {}

    def ask(self, command: str, arguments: Struct, then: Answer) -> None:
        """Send a request of our own."""
        self.connection.request(command, arguments, told=self._note(then))

    def relay(self, request: Request, then: Answer) -> None:
        """Send a debuggee's request on."""
        self.connection.forward(request, told=self._note(then))

    def take_response(self, response: Response) -> None:
        """Hand an answer of the client to whoever waits for it."""
        then = self._asked.pop(response.request_seq, None)
        if then is not None:
            then(response)

    def lose(self) -> None:
        """The client is gone: nothing that it was asked will be answered."""
        while self._asked:
            self._asked.popitem()[1](None)

    def output(self, category: str, text: str) -> None:
        """Show text in the client's console."""
        self.connection.send_event("output", OutputEventBody(category=category, output=text))

    def say(self, text: str) -> None:
        """Show a line of the adapter's own."""
        self.output("console", f"fxdap: {text}\n")

    def tell_exited(self, code: int) -> None:
        """The process has ended."""
        self.connection.send_event("exited", ExitedEventBody(exit_code=code))

    def tell_terminated(self) -> None:
        """There is nothing left to debug."""
        self.connection.send_event("terminated")

    def tell_continued(self, thread: int) -> None:
        """What was stopped is so no more."""
        body = ContinuedEventBody(thread_id=thread, all_threads_continued=True)
        self.connection.send_event("continued", body)

    def tell_changed(self, breakpoint: Breakpoint) -> None:
        """A breakpoint that the client knows may have moved or lost its place."""
        if breakpoint.id is not None:
            body = BreakpointEventBody(reason="changed", breakpoint=breakpoint)
            self.connection.send_event("breakpoint", body)

    def tell(self, event: Event) -> None:
        """Pass on what a debuggee tells."""
        self.connection.forward(event)

    def _note(self, then: Answer) -> Callable[[int], None]:
        return lambda seq: self._asked.__setitem__(seq, then)
