"""A small typed debug client, for the command line, the tests and the benchmarks."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import decode, encode

from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body, request_spec
from fxdap.wire.envelope import Event, Message, Request, Response
from fxdap.wire.errors import RequestError
from fxdap.wire.log import WireLog
from fxdap.wire.messages import EVENTS, ErrorResponseBody

if TYPE_CHECKING:
    from typing_extensions import Self

ReverseRequestHandler = Callable[[Request], Struct | None]
Arguments = Struct | Mapping[str, Any] | Raw | None


class RequestFailed(Exception):
    """The other side answered a request with an error."""

    def __init__(self, command: str, message: str, body: ErrorResponseBody) -> None:
        super().__init__(f"{command}: {message}")
        self.command = command
        self.message = message
        self.body = body


class ConnectionEnded(Exception):
    """The other side closed the connection, or broke the protocol."""


class ReceivedEvent(NamedTuple):
    """An event with its place in the order of everything that arrived."""

    name: str
    body: Any
    order: int


class DapClient:
    """Sends requests and waits, with a limit, for what comes back.

    Threads: a reader thread takes everything in and calls `on_reverse_request`; any other thread
    sends and waits.
    """

    def __init__(
        self,
        connection: Connection,
        process: "subprocess.Popen[bytes] | None" = None,
        on_reverse_request: ReverseRequestHandler | None = None,
        check_order: bool = True,
    ) -> None:
        self.process = process
        self.on_reverse_request = on_reverse_request
        self.messages: list[Message] = []
        self.events: list[ReceivedEvent] = []
        self._connection = connection
        self._check_order = check_order
        self._changed = threading.Condition()
        self._responses: dict[int, Response] = {}
        self._unconsumed: list[ReceivedEvent] = []
        self._end: str | None = None
        self._begin()

    def _begin(self) -> None:
        threading.Thread(target=self._read, name="dap-client", daemon=True).start()

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        *,
        stderr: int | IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        on_reverse_request: ReverseRequestHandler | None = None,
        check_order: bool = True,
    ) -> "Self":
        """Start an adapter and speak to it over its standard streams.

        Without `check_order` its messages may be numbered as they like.
        """
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            env=env,
            cwd=cwd,
        )
        reader = cast(BinaryIO, process.stdout)
        writer = cast(BinaryIO, process.stdin)
        connection = Connection(reader, writer, name="adapter", log=_log())
        return cls(connection, process, on_reverse_request, check_order)

    @classmethod
    def connect(
        cls,
        host: str,
        port: int,
        retry_s: float = 0.0,
        on_reverse_request: ReverseRequestHandler | None = None,
    ) -> "Self":
        """Speak to a listening server; a refused connection is tried again for `retry_s`."""
        deadline = time.monotonic() + retry_s
        while True:
            try:
                sock = socket.create_connection((host, port), timeout=10)
                break
            except ConnectionRefusedError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.02)
        sock.settimeout(None)
        connection = Connection.over_socket(sock, name="adapter", log=_log())
        return cls(connection, None, on_reverse_request)

    def send(self, command: str, arguments: Arguments = None) -> int:
        """Send a request without waiting; gives its seq."""
        if isinstance(arguments, Mapping):
            arguments = Raw(encode(arguments))
        return self._connection.request(command, arguments)

    def request(self, command: str, arguments: Arguments = None, timeout: float = 10.0) -> Any:
        """Send a request and give the body of its answer, typed; raises RequestFailed."""
        return self.wait_response(self.send(command, arguments), timeout)

    def wait_response(self, seq: int, timeout: float = 10.0) -> Any:
        """The body of the answer to the request sent as `seq`; raises RequestFailed."""
        response = self._wait(
            lambda: self._responses.pop(seq, None), timeout, f"the answer to request {seq}"
        )
        if not response.success:
            error = decode_body(ErrorResponseBody, response.body)
            raise RequestFailed(response.command, response.message or "", error)
        spec = request_spec(response.command)
        return decode_body(spec.body, response.body) if spec and spec.body else None

    def wait_event(
        self, name: str, timeout: float = 10.0, where: Callable[[Any], bool] | None = None
    ) -> Any:
        """The body of the next such event nobody has waited for; earlier other ones stay."""
        event = self._wait(lambda: self._take_event(name, where), timeout, f"event {name!r}")
        return event.body

    def next_event(
        self, timeout: float | None = None, unless_answered: int | None = None
    ) -> ReceivedEvent | None:
        """The first event nobody has waited for, whatever it is.

        None once the connection has ended or the request `unless_answered` has its answer.
        """
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._unconsumed or self._end or unless_answered in self._responses, timeout
            ):
                raise TimeoutError(f"no event within {timeout} s; {self._summary()}")
            return self._unconsumed.pop(0) if self._unconsumed else None

    def wait_end(self, timeout: float = 10.0) -> None:
        """Wait until the other side has closed the connection."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._end is not None, timeout):
                raise TimeoutError(f"the connection is still open after {timeout} s")

    def wait_exit(self, timeout: float = 10.0) -> int:
        """The exit code of the adapter that `spawn` started."""
        if self.process is None:
            raise ValueError("this client has started no process")
        return self.process.wait(timeout)

    def output(self, category: str | None = None) -> str:
        """All output so far, of one category or of all."""
        with self._changed:
            return "".join(
                event.body.output
                for event in self.events
                if event.name == "output" and category in (None, event.body.category)
            )

    def close(self) -> None:
        """Leave: close the connection, which ends the session."""
        self._connection.close()

    def _wait(self, take: Callable[[], Any], timeout: float, what: str) -> Any:
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = take()
                if found is not None:
                    return found
                if self._end is not None:
                    raise ConnectionEnded(f"no {what}: {self._end}; {self._summary()}")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"no {what} within {timeout} s; {self._summary()}")
                self._changed.wait(left)

    def _take_event(self, name: str, where: Callable[[Any], bool] | None) -> ReceivedEvent | None:
        for index, event in enumerate(self._unconsumed):
            if event.name == name and (where is None or where(event.body)):
                return self._unconsumed.pop(index)
        return None

    def _summary(self) -> str:
        last = ", ".join(event.name for event in self.events[-5:])
        return f"the last events were: {last or 'none'}"

    def _read(self) -> None:
        end = "the connection was closed"
        try:
            while message := self._connection.read():
                self._take_in(message)
        except (ConnectionEnded, MsgspecError) as error:
            end = f"protocol violated: {error}"
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def _take_in(self, message: Message) -> None:
        with self._changed:
            self.messages.append(message)
            order = len(self.messages)
            if self._check_order and message.seq != order:
                raise ConnectionEnded(f"seq {message.seq} where {order} was due: {message}")
            if isinstance(message, Response):
                self._responses[message.request_seq] = message
            elif isinstance(message, Event):
                event = ReceivedEvent(message.event, _event_body(message), order)
                self.events.append(event)
                self._unconsumed.append(event)
            self._changed.notify_all()
        if isinstance(message, Request):
            self._serve(message)

    def _serve(self, request: Request) -> None:
        if self.on_reverse_request is None:
            self._connection.fail(request, f"this client does not serve {request.command!r}")
            return
        try:
            self._connection.respond(request, self.on_reverse_request(request))
        except RequestError as error:
            self._connection.fail(request, error)


def _event_body(event: Event) -> Any:
    kind = EVENTS.get(event.event)
    if kind is not None:
        return decode_body(kind, event.body)
    text: bytes | memoryview = memoryview(event.body)
    return decode(text) if text else None


def _log() -> WireLog | None:
    return WireLog.from_environment("client")
