"""A debugged process as the session sees it: its connection, and what is unanswered on it."""

import threading
from typing import Protocol

from msgspec import MsgspecError, Raw, Struct
from msgspec.structs import replace

from fxdap.adapter.batches import batched
from fxdap.adapter.client import Answer
from fxdap.adapter.exits import Exit, ended
from fxdap.adapter.read_ahead import ReadAhead
from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body
from fxdap.wire.envelope import Event, Request, Response, payload
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import ProgressStartEventBody, StoppedEventBody

_RESUMING = {
    "continue",
    "next",
    "stepIn",
    "stepOut",
    "stepBack",
    "reverseContinue",
    "goto",
    "restartFrame",
}
_GRACE_S = 1.0


class Origin(Protocol):
    """How a debuggee came to be, and so what can be done with its process."""

    owned: bool
    """Whether the adapter started the process, and must not leave it behind."""

    def kill(self) -> None:
        """End the process if it is owned, else let go of it; returns at once."""

    def drain(self) -> None:
        """Pass on what the process has printed so far."""


class Owner(Protocol):
    """The session, as its debuggees know it."""

    def on_connected(self, debuggee: "Debuggee") -> None: ...

    def on_event(self, debuggee: "Debuggee", event: Event) -> None: ...

    def on_request(self, debuggee: "Debuggee", request: Request) -> None: ...

    def on_ended(self, debuggee: "Debuggee", exit: Exit | None) -> None: ...


class Debuggee:
    """Relays between the client and one process, and lets no request go unanswered.

    Threads: the *debuggee* thread calls `serve`: it reads everything the process sends and
    passes it to the client (so it blocks only while the client does not read). The *client*
    thread calls `relay`. Whoever watches the process calls `end`, once. `abandon` may come from
    any thread: nothing of this debuggee reaches the client any more.
    """

    def __init__(self, client: Connection, owner: Owner) -> None:
        self.pid: int | None = None
        self.ready = False
        self.last_command = ""
        self.finished = threading.Event()
        self._last_stop: StoppedEventBody | None = None
        self._client = client
        self._owner = owner
        self._origin: Origin | None = None
        self._connection: Connection | None = None
        self._ahead = ReadAhead(self._ask, self.pass_on)
        self._unanswered: dict[int, Request | Answer] = {}
        self._lost = threading.Event()
        self._abandoned = False
        self._reason = ""

    @property
    def reason(self) -> str:
        """Why it answers no more."""
        return self._reason or "the debuggee has ended"

    @property
    def stopped_thread(self) -> int | None:
        """The thread that stopped last, if nothing has been resumed since."""
        return self._last_stop.thread_id if self._last_stop is not None else None

    @property
    def owned(self) -> bool:
        """Whether its process belongs to this session."""
        return self._origin is not None and self._origin.owned

    @property
    def connected(self) -> bool:
        """Whether requests can reach it."""
        return self._connection is not None and not self._lost.is_set()

    def take_origin(self, origin: Origin) -> None:
        """Learn how to end the process."""
        self._origin = origin

    def serve(self, connection: Connection) -> None:
        """Read the connection to its end; the calling thread is the debuggee thread."""
        self._connection = connection
        if self.finished.is_set() or self._reason:
            connection.close()
            self.finished.set()
            return
        self._owner.on_connected(self)
        for message in batched(connection):
            if isinstance(message, Response):
                self._take_response(message)
            elif self._abandoned:
                continue
            elif isinstance(message, Event):
                try:
                    self._take_event(message)
                except MsgspecError:  # the client may know better
                    self._client.forward(message)
            else:
                self._owner.on_request(self, message)
        self._lost.set()
        self._after_loss()

    def relay(self, request: Request) -> None:
        """Pass a request of the client on; it gets its answer in any case."""
        self.last_command = request.command
        if request.command in _RESUMING:
            self._last_stop = None
        if self._ahead.takes(request):
            return
        if self._connection is None:
            raise RequestError("the debuggee cannot be reached yet")
        seq = self._connection.forward(
            request, told=lambda seq: self._unanswered.__setitem__(seq, request)
        )
        if self._reason and self._unanswered.pop(seq, None) is not None:
            raise RequestError(self.reason)

    def ask(self, command: str, arguments: Struct | Raw | None, then: Answer) -> None:
        """Send a request of the adapter's own; `then` gets the answer, None if none can come."""
        self._ahead.forget()
        self._ask(command, arguments, then)

    def _ask(self, command: str, arguments: Struct | Raw | None, then: Answer) -> None:
        if self._connection is None:
            then(None)
            return
        seq = self._connection.request(
            command, arguments, told=lambda seq: self._unanswered.__setitem__(seq, then)
        )
        if self._reason and self._unanswered.pop(seq, None) is not None:
            then(None)

    def answer(self, response: Response, request_seq: int) -> None:
        """Pass on the client's answer to a request of the debuggee."""
        if self._connection is not None:
            self._connection.forward(response, request_seq=request_seq)

    def pass_on(self, request: Request, answer: Response | None) -> None:
        """Give a request of the client its answer, None if none can come."""
        if answer is None:
            self._client.fail(request, self.reason)
        else:
            answer = replace(answer, command=request.command)
            self._client.forward(answer, request_seq=request.seq)

    def seq_of(self, client_seq: int) -> int | None:
        """The number under which the debuggee knows an unanswered request of the client."""
        for seq, request in list(self._unanswered.items()):
            if isinstance(request, Request) and request.seq == client_seq:
                return seq
        return None

    def kill(self) -> None:
        """End the process, or let go of it if it is not ours."""
        if self._origin is not None:
            self._origin.kill()
        if self._connection is not None:
            self._connection.close()

    def abandon(self, reason: str) -> None:
        """Answer everything unanswered, and pass nothing on any more."""
        self._abandoned = True
        self._reason = reason
        self._fail_unanswered()

    def wait_lost(self, timeout: float) -> None:
        """Wait until everything it sent has been passed on."""
        if self._connection is not None and not self._lost.wait(timeout):
            self._connection.close()

    def end(self, exit: Exit | None, never_ready: str) -> None:
        """The process is gone (`exit` None: or only out of reach), its output passed on.

        `never_ready` is the reason to give if its server has never answered.
        """
        if not self._abandoned:
            self._reason = ended(exit) if self.ready else never_ready
        self._lost.set()
        self._fail_unanswered()
        self.finished.set()
        self._owner.on_ended(self, exit)

    def _take_response(self, response: Response) -> None:
        waiting = self._unanswered.pop(response.request_seq, None)
        if isinstance(waiting, Request):
            if response.command == "evaluate" and self._origin is not None:
                self._origin.drain()
            self._ahead.answered(waiting, response)
            self.pass_on(waiting, response)
        elif waiting is not None:
            waiting(response)

    def _take_event(self, event: Event) -> None:
        if event.event == "stopped":
            self._last_stop = decode_body(StoppedEventBody, event.body)
            if self._origin is not None:
                self._origin.drain()
        elif event.event == "progressStart":
            event = self._renumbered(event)
        self._ahead.happened(event.event, self.stopped_thread)
        self._owner.on_event(self, event)
        self._ahead.told()

    def _renumbered(self, event: Event) -> Event:
        """A progressStart whose requestId is the client's own number."""
        body = decode_body(ProgressStartEventBody, event.body)
        request = self._unanswered.get(body.request_id or 0)
        client_seq = request.seq if isinstance(request, Request) else None
        return replace(event, body=payload(replace(body, request_id=client_seq)))

    def _after_loss(self) -> None:
        if not self.owned:
            self.end(None, "what listens there does not answer as fxdap does")
        elif not self.finished.wait(_GRACE_S):
            # It lives, but nothing in it answers: it replaced itself, or closed all its files.
            self._reason = "the process has no debugger any more"
            self._fail_unanswered()

    def _fail_unanswered(self) -> None:
        self._ahead.forget()
        while self._unanswered:
            try:
                _, waiting = self._unanswered.popitem()
            except KeyError:  # another thread took the last one
                return
            if isinstance(waiting, Request):
                self.pass_on(waiting, None)
            else:
                waiting(None)
