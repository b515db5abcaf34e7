"""The requests of one client: read, put in order, handed to their handlers, answered."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fxdap.engine.own_threads import exempt
from fxdap.server.registry import HANDLERS, Served, When, is_quick, offer
from fxdap.wire.dispatch import decode_arguments
from fxdap.wire.envelope import Request, Response
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import CancelArguments, Capabilities

if TYPE_CHECKING:
    from fxdap.server.session import Session

offer(Capabilities(supports_cancel_request=True), "cancel")


class Requests:
    """Serves what a session's client asks.

    Threads: the *reader* reads, notes cancellations and queues requests, in order; the *server*
    thread takes them from the queue and runs handlers, which never block; handlers that need a
    user thread are posted to it and answer from there. When the client is gone the reader calls
    the session's `on_end` once.
    """

    def __init__(self, session: Session) -> None:
        self.after_response: Callable[[Callable[[], None]], None]
        """For the handler that runs: something to do once its answer is sent."""
        self._session = session
        self._queue: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._queued = 0
        self._serving = threading.Lock()
        self._cancelled: set[int] = set()
        self._running: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the reader and the server thread."""
        exempt(threading.Thread(target=self._serve, name="fxdap-server", daemon=True)).start()
        exempt(threading.Thread(target=self._read, name="fxdap-reader", daemon=True)).start()

    def _read(self) -> None:
        while (message := self._session.connection.read()) is not None:
            if isinstance(message, Request):
                if message.command == "cancel":
                    self._cancel(message)
                elif self._queued or not is_quick(message.command):
                    self.enqueue(message)
                else:
                    self._handle(message)
            elif isinstance(message, Response):
                self._session.python.client.take_response(message)
        self._queue.put(None)
        self._session.on_end()

    def enqueue(self, request: Request) -> None:
        """Serve a request behind those that wait."""
        with self._lock:
            self._queued += 1
        self._queue.put(request)

    def _serve(self) -> None:
        while (request := self._queue.get()) is not None:
            self._handle(request)
            with self._lock:
                self._queued -= 1

    def _handle(self, request: Request) -> None:
        with self._serving:  # a held request may be served while the reader serves one
            self._handle_alone(request)

    def _handle_alone(self, request: Request) -> None:
        try:
            if self._is_cancelled(request.seq):
                raise RequestError.cancelled()
            served = HANDLERS.get(request.command)
            if served is None:
                raise RequestError(f"request {request.command!r} is not supported")
            self._check_state(served)
            if served.deferred:
                served.handler(self._session, request)
            else:
                arguments = decode_arguments(request)
                if not self._session.python.client.takes(request):
                    self._run(request, served, arguments)
        except RequestError as error:
            self._session.connection.fail(request, error)
        except Exception as error:
            self._session.connection.fail(request, self._internal(error))

    def _check_state(self, served: Served) -> None:
        if self._session.ready or served.when is When.ANYONE:
            return
        if self._session.token is not None:
            raise RequestError(f"{served.command!r} is not served before 'attach' with the token")
        if served.when is not When.ALWAYS:
            raise RequestError(
                f"{served.command!r} comes too early: send launch or attach and wait for "
                f"the 'initialized' event first"
            )

    def _run(self, request: Request, served: Served, arguments: Any) -> None:
        if served.when is When.LANDED and self._session.early.hold(
            request, self._session.named_thread(arguments)
        ):
            return
        if served.when in (When.STOPPED, When.LANDED):
            thread = self._session.stopped_thread(arguments)
            if served.on_thread:
                if served.when is When.LANDED:
                    thread.reserve_step()
                thread.post(lambda: self._run_on_thread(request, served, arguments))
                return
        self._answer(request, served, arguments)

    def _answer(self, request: Request, served: Served, arguments: Any) -> None:
        with self._session.events.announcing:
            after: list[Callable[[], None]] = []
            self.after_response = after.append
            body = served.handler(self._session, arguments)
            self._session.connection.respond(request, body)
        for action in after:
            action()

    def _run_on_thread(self, request: Request, served: Served, arguments: Any) -> None:
        """Runs on the user's stopped thread; nothing may escape but the end of the process."""
        result = self._result(request, served, arguments)
        if isinstance(result, RequestError):
            self._session.connection.fail(request, result)
            if served.when is When.LANDED:
                self._stay()
        else:
            self._session.connection.respond(request, result)

    def _stay(self) -> None:
        """The calling thread was to go somewhere and did not: what waits for it is served here."""
        thread = self._session.debugger.current_thread()
        thread.stay()
        self._session.early.landed(thread)

    def _result(
        self, request: Request, served: Served, arguments: Any
    ) -> Struct | RequestError | None:
        """Outside of this no interrupt can come: `cancel` interrupts only what is in `_running`."""
        try:
            if self._is_cancelled(request.seq):
                raise RequestError.cancelled()
            with self._lock:
                self._running[request.seq] = self._canceller(served)
            try:
                return served.handler(self._session, arguments)
            finally:
                with self._lock:
                    self._running.pop(request.seq, None)
        except RequestError as error:
            return error
        except KeyboardInterrupt:
            return RequestError.cancelled()
        except BaseException as error:
            return self._internal(error)

    def _canceller(self, served: Served) -> Callable[[], None]:
        """What cancels a request that the calling thread serves."""
        thread = self._session.debugger.current_thread()
        if not served.moves:
            return thread.interrupt

        def give_up() -> None:
            if (work := self._session.work.get(thread.id)) is not None:
                work.cancel()

        return give_up

    def _internal(self, error: BaseException) -> RequestError:
        text = "".join(traceback.format_exception(error))
        if self._session.connection.log:
            self._session.connection.log.note(text)
        return RequestError(f"fxdap failed here ({type(error).__name__}: {error})")

    def _cancel(self, request: Request) -> None:
        """Overtakes the queue: a waiting request is answered `cancelled`, a running one stopped."""
        try:
            arguments = decode_arguments(request)
            assert isinstance(arguments, CancelArguments)
            if arguments.progress_id is not None:
                self._session.progress.cancel(arguments.progress_id)
            if arguments.request_id is not None:
                with self._lock:
                    self._cancelled.add(arguments.request_id)
                    cancel = self._running.get(arguments.request_id)
                    if cancel is not None:
                        cancel()
            self._session.connection.respond(request)
        except RequestError as error:
            self._session.connection.fail(request, error)

    def _is_cancelled(self, seq: int) -> bool:
        with self._lock:
            if seq in self._cancelled:
                self._cancelled.discard(seq)
                return True
        return False

    def answer_rest(self, seconds: float) -> None:
        """What comes behind `disconnect`, such as another one, until the client closes."""
        end = time.monotonic() + seconds
        while (request := self._next_until(end)) is not None:
            if request.command == "disconnect":
                self._session.connection.respond(request)
            else:
                self._session.connection.fail(request, "the session is closed")

    def _next_until(self, end: float) -> Request | None:
        try:
            request = self._queue.get(timeout=max(end - time.monotonic(), 0))
        except queue.Empty:
            return None
        if request is None:
            self._queue.put(None)
        return request
