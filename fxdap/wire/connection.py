"""One peer of a debug session: messages in and out over a pair of byte streams."""

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, cast

from msgspec import Raw, Struct
from msgspec.structs import replace

from fxdap.wire import envelope
from fxdap.wire.envelope import Event, Message, Request, Response
from fxdap.wire.errors import MalformedError, RequestError
from fxdap.wire.framing import FrameReader, Malformed
from fxdap.wire.log import WireLog
from fxdap.wire.messages import ErrorResponseBody
from fxdap.wire.messages import Message as ErrorMessage

if TYPE_CHECKING:
    import socket

# Requests that cannot be read are answered with what a client can still match to its own.
_UNKNOWN = "unknown"
_UNREADABLE_ID = 100


class Connection:
    """One DAP peer: `seq` counts from 1, each message is one write.

    Threads: one thread calls `read`; any thread sends. A send blocks while the peer does not
    read, and is dropped once the peer is gone. `close` may come from any thread and ends `read`
    when the connection is a socket (a blocked read of a pipe ends with the pipe).
    """

    def __init__(
        self,
        reader: BinaryIO,
        writer: BinaryIO,
        *,
        name: str = "",
        log: WireLog | None = None,
        strict_start: bool = False,
    ) -> None:
        self.name = name
        self.log = log
        self._frames = FrameReader(reader, strict_start)
        self._reader = reader
        self._writer = writer
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._seq = 0
        self._last_seen = 0
        self._in_garbage = False
        self._gone = False

    @classmethod
    def over_socket(
        cls,
        sock: "socket.socket",
        *,
        name: str = "",
        log: WireLog | None = None,
        strict_start: bool = False,
    ) -> "Connection":
        """A connection over TCP; it owns the socket from now on."""
        import socket

        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = cast(BinaryIO, sock.makefile("rwb", buffering=0))
        connection = cls(stream, stream, name=name, log=log, strict_start=strict_start)
        connection._socket = sock
        return connection

    @classmethod
    def over_stdio(cls, *, name: str = "client", log: WireLog | None = None) -> "Connection":
        """Take the standard streams for the protocol; whatever prints lands on stderr instead."""
        reader = os.fdopen(os.dup(0), "rb", buffering=0)
        writer = os.fdopen(os.dup(1), "wb", buffering=0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(reader, writer, name=name, log=log)

    def read(self) -> Message | None:
        """The next message; None when the peer is gone. Answers unreadable input by itself."""
        while True:
            found = self._frames.read()
            if found is None:
                return None
            if isinstance(found, Malformed):
                self._note_received(found.text)
                self._answer_garbage(found)
                continue
            self._note_received(found)
            try:
                message = envelope.decode(found)
            except MalformedError as error:
                self._in_garbage = True
                self._answer_malformed(error)
                continue
            self._in_garbage = False
            if isinstance(message, Request):
                self._last_seen = message.seq
            return message

    @property
    def has_more(self) -> bool:
        """Whether more has arrived than what `read` has given."""
        return self._frames.has_more

    def respond(self, request: Request, body: Struct | None = None) -> None:
        """Answer a request with success."""
        self._respond(request.seq, request.command, envelope.payload(body))

    def fail(self, request: Request, error: RequestError | str) -> None:
        """Answer a request with an error."""
        if isinstance(error, str):
            error = RequestError(error)
        self._fail(request.seq, request.command, error)

    def send_event(self, event: str, body: Struct | None = None) -> None:
        """Tell the peer that something happened."""
        raw = envelope.payload(body)
        self._send_numbered(lambda seq: Event(seq=seq, event=event, body=raw))

    def request(
        self,
        command: str,
        arguments: Struct | Raw | None = None,
        *,
        told: Callable[[int], None] | None = None,
    ) -> int:
        """Ask the peer for something; its answer comes out of `read`, by the seq given here.

        `told` hears the seq before anything is sent, so that no answer can come before it.
        """
        raw = arguments if isinstance(arguments, Raw) else envelope.payload(arguments)
        return self._send_numbered(
            lambda seq: Request(seq=seq, command=command, arguments=raw), told
        )

    def forward(
        self,
        message: Message,
        *,
        request_seq: int | None = None,
        told: Callable[[int], None] | None = None,
    ) -> int:
        """Send another peer's message on, with a seq of this connection; gives that seq."""
        if isinstance(message, Response) and request_seq is not None:
            message = replace(message, request_seq=request_seq)
        return self._send_numbered(lambda seq: replace(message, seq=seq), told)

    def finish_sending(self) -> None:
        """Send nothing more, and let the peer see the end; reading goes on."""
        with self._lock:
            self._gone = True
            try:
                if self._socket is None:
                    self._writer.close()
                else:
                    self._socket.shutdown(1)
            except OSError:  # the peer was faster
                pass

    def close(self) -> None:
        """End the connection, from any thread."""
        self._gone = True
        try:
            if self._socket is not None:
                self._socket.shutdown(2)
        except OSError:  # the peer was faster
            pass
        for end in (self._reader, self._writer, self._socket):
            try:
                if end is not None:
                    end.close()
            except OSError:
                pass

    def _answer_garbage(self, garbage: Malformed) -> None:
        error = envelope.malformed(garbage.reason, garbage.text)
        # The rest of a message that was just answered is no second message.
        if not self._in_garbage or error.seq is not None:
            self._answer_malformed(error)
        self._in_garbage = True

    def _answer_malformed(self, error: MalformedError) -> None:
        seq = error.seq if error.seq else self._last_seen + 1
        self._last_seen = max(seq, 1)
        reason = RequestError(f"unreadable message: {error.message}", id=_UNREADABLE_ID)
        self._fail(self._last_seen, error.command or _UNKNOWN, reason)

    def _respond(self, request_seq: int, command: str, body: Raw) -> None:
        self._send_numbered(
            lambda seq: Response(
                seq=seq, request_seq=request_seq, success=True, command=command, body=body
            )
        )

    def _fail(self, request_seq: int, command: str, error: RequestError) -> None:
        # In `format` braces are placeholders, so a text with braces goes in as a variable.
        details = ErrorMessage(
            id=error.id,
            format="{_message}",
            variables={"_message": error.message},
            show_user=error.show_user or None,
        )
        body = envelope.payload(ErrorResponseBody(error=details))
        self._send_numbered(
            lambda seq: Response(
                seq=seq,
                request_seq=request_seq,
                success=False,
                command=command,
                message=error.message,
                body=body,
            )
        )

    def _send_numbered(
        self, build: Callable[[int], Message], told: Callable[[int], None] | None = None
    ) -> int:
        with self._lock:
            self._seq += 1
            seq = self._seq
            if told:
                told(seq)
            self._write(build(seq))
        return seq

    def _write(self, message: Message) -> None:
        body = envelope.encode(message)
        if self.log:
            self.log.sent(self.name, body)
        if self._gone:
            return
        rest = memoryview(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        try:
            while rest:
                rest = rest[self._writer.write(rest) :]
            self._writer.flush()
        except (OSError, ValueError) as error:
            self._gone = True
            if self.log:
                self.log.note(f"{self.name} is gone: {error}")

    def _note_received(self, text: bytes) -> None:
        if self.log:
            self.log.received(self.name, text)
