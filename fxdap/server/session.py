"""One client's session with this process: reading, dispatching, answering."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from fxdap.engine.debugger import Debugger
from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.postmortem import failed_frames
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread, raise_in_thread
from fxdap.graphs.runs import GraphRuns
from fxdap.server.breakpoint_table import BreakpointTable
from fxdap.server.debugpy_host import exempt
from fxdap.server.diagnoses import Diagnoses
from fxdap.server.early import EarlyRequests
from fxdap.server.events import Events
from fxdap.server.handlers.breakpoints import selector_entries
from fxdap.server.handles import FrameView, Handles, Jump
from fxdap.server.listing_names import ListingNames
from fxdap.server.long_runs import LongRuns
from fxdap.server.memory import Memory
from fxdap.server.places import Places
from fxdap.server.present import Presenter
from fxdap.server.progress import Progress, Work
from fxdap.server.python_side import PythonSide
from fxdap.server.registry import HANDLERS, Served, When, is_quick, offer
from fxdap.server.variables_tree import Branch
from fxdap.view.node_text import node_line
from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_arguments
from fxdap.wire.envelope import Request, Response
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    CancelArguments,
    Capabilities,
    InitializeRequestArguments,
    InvalidatedEventBody,
)

offer(Capabilities(supports_cancel_request=True), "cancel")

_NODE_S = 1.0
"""For a node to end after the program was asked to, before it is unwound from within."""

_GOODBYE_S = 2.0
"""For the client to close the connection of a process that runs on, before it is closed here."""


class Session:
    """A client and the debugger it drives.

    Threads: the *reader* reads, notes cancellations and queues requests, in order; the *server*
    thread takes them from the queue and runs handlers, which never block; handlers that need a
    user thread are posted to it and answer from there. User threads send events. When the
    client is gone the reader calls `on_end` once.
    """

    def __init__(self, connection: Connection, *, on_end: Callable[[], None]) -> None:
        self.connection = connection
        self.events = Events(connection)
        self.debugger = Debugger(self.events)
        self.events.session = self
        self.runs = GraphRuns(self.debugger)
        self.breakpoints = BreakpointTable(self.debugger)
        self.listings = ListingNames()
        self.client = InitializeRequestArguments(adapter_id="fxdap")
        self.launched: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self.initialized = False
        self.launching = False
        self.configured = threading.Event()
        self.ready = False
        self.token: str | None = None
        self.workspace: str | None = None
        self.attached = False
        self.frames: Handles[FrameView] = Handles(stable=False)
        self.variables: Handles[Branch] = Handles(stable=True)
        self.jumps: Handles[Jump] = Handles(stable=False)
        self.presenter = Presenter(self)
        self.progress = Progress(connection)
        self.long_runs = LongRuns(self)
        self.diagnoses = Diagnoses()
        self.python = PythonSide(self)
        self.memory = Memory()
        self.places = Places()
        self.scratch: dict[str, Any] = {}
        self.exit_process: Callable[[int], None] = lambda code: None
        self.claim: Callable[[], bool] = lambda: True
        self.on_attached: Callable[[], None] = lambda: None
        self.on_detached: Callable[[], None] = lambda: None
        self.on_suspended: Callable[[Debugger, GraphRuns], None] = lambda debugger, runs: None
        self.suspended: Callable[[], tuple[Debugger, GraphRuns] | None] = lambda: None
        self.left_running = False
        self._left_paused = False
        self._found_paused: list[DebugThread] = []
        self._said: set[str] = set()
        self._unanswered: Request | None = None
        self._on_end = on_end
        self._queue: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._queued = 0
        self._serving = threading.Lock()
        self.early = EarlyRequests(connection, self._enqueue)
        self._cancelled: set[int] = set()
        self._running: dict[int, Callable[[], None]] = {}
        self.work: dict[int, Work] = {}
        """By thread, what is under way there and can be given up, but not be interrupted."""
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the reader and the server thread."""
        exempt(threading.Thread(target=self._serve, name="fxdap-server", daemon=True)).start()
        exempt(threading.Thread(target=self._read, name="fxdap-reader", daemon=True)).start()

    def _read(self) -> None:
        while (message := self.connection.read()) is not None:
            if isinstance(message, Request):
                if message.command == "cancel":
                    self._cancel(message)
                elif self._queued or not is_quick(message.command):
                    self._enqueue(message)
                else:
                    self._handle(message)
            elif isinstance(message, Response):
                self.python.client.take_response(message)
        self._queue.put(None)
        self._on_end()

    def _enqueue(self, request: Request) -> None:
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
                served.handler(self, request)
            else:
                arguments = decode_arguments(request)
                if not self.python.client.takes(request):
                    self._run(request, served, arguments)
        except RequestError as error:
            self.connection.fail(request, error)
        except Exception as error:
            self.connection.fail(request, self._internal(error))

    def _check_state(self, served: Served) -> None:
        if self.ready or served.when is When.ANYONE:
            return
        if self.token is not None:
            raise RequestError(f"{served.command!r} is not served before 'attach' with the token")
        if served.when is not When.ALWAYS:
            raise RequestError(
                f"{served.command!r} comes too early: send launch or attach and wait for "
                f"the 'initialized' event first"
            )

    def _run(self, request: Request, served: Served, arguments: Any) -> None:
        if served.when is When.LANDED and self.early.hold(request, self._named_thread(arguments)):
            return
        if served.when in (When.STOPPED, When.LANDED):
            thread = self.stopped_thread(arguments)
            if served.on_thread:
                if served.when is When.LANDED:
                    thread.reserve_step()
                thread.post(lambda: self._run_on_thread(request, served, arguments))
                return
        self._answer(request, served, arguments)

    def _answer(self, request: Request, served: Served, arguments: Any) -> None:
        with self.events.announcing:
            after: list[Callable[[], None]] = []
            self.after_response = after.append
            body = served.handler(self, arguments)
            self.connection.respond(request, body)
        for action in after:
            action()

    def _run_on_thread(self, request: Request, served: Served, arguments: Any) -> None:
        """Runs on the user's stopped thread; nothing may escape but the end of the process."""
        result = self._result(request, served, arguments)
        if isinstance(result, RequestError):
            self.connection.fail(request, result)
            if served.when is When.LANDED:
                self._stay()
        else:
            self.connection.respond(request, result)

    def _stay(self) -> None:
        """The calling thread was to go somewhere and did not: what waits for it is served here."""
        thread = self.debugger.current_thread()
        thread.stay()
        self.early.landed(thread)

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
                return served.handler(self, arguments)
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
        thread = self.debugger.current_thread()
        if not served.moves:
            return thread.interrupt

        def give_up() -> None:
            if (work := self.work.get(thread.id)) is not None:
                work.cancel()

        return give_up

    def _internal(self, error: BaseException) -> RequestError:
        text = "".join(traceback.format_exception(error))
        if self.connection.log:
            self.connection.log.note(text)
        return RequestError(f"fxdap failed here ({type(error).__name__}: {error})")

    def _cancel(self, request: Request) -> None:
        """Overtakes the queue: a waiting request is answered `cancelled`, a running one stopped."""
        try:
            arguments = decode_arguments(request)
            assert isinstance(arguments, CancelArguments)
            if arguments.progress_id is not None:
                self.progress.cancel(arguments.progress_id)
            if arguments.request_id is not None:
                with self._lock:
                    self._cancelled.add(arguments.request_id)
                    cancel = self._running.get(arguments.request_id)
                    if cancel is not None:
                        cancel()
            self.connection.respond(request)
        except RequestError as error:
            self.connection.fail(request, error)

    def _is_cancelled(self, seq: int) -> bool:
        with self._lock:
            if seq in self._cancelled:
                self._cancelled.discard(seq)
                return True
        return False

    def stopped_thread(self, arguments: Struct) -> DebugThread:
        """The stopped thread that a request's arguments name; RequestError if there is none."""
        thread = self._named_thread(arguments)
        if thread is None or not thread.is_stopped:
            raise RequestError.not_stopped()
        return thread

    def _named_thread(self, arguments: Any) -> DebugThread | None:
        if (ident := getattr(arguments, "thread_id", None)) is not None:
            thread = self.debugger.thread(ident)
            if thread is None:
                raise RequestError(f"there is no thread {ident}")
            return thread
        if (frame_id := getattr(arguments, "frame_id", None)) is not None:
            return self.frame_view(frame_id).thread
        if (reference := getattr(arguments, "variables_reference", None)) is not None:
            owner = self.variables.owner(reference)
            if owner is None:
                raise RequestError(f"variablesReference {reference} is unknown or out of date")
            return self.debugger.thread(owner)
        return self.last_stopped()

    def last_stopped(self) -> DebugThread | None:
        """The thread that stopped last, for requests that name none."""
        stopped = [t for t in self.debugger.threads() if t.is_stopped]
        return max(stopped, key=lambda t: t.stop_count, default=None)

    def frame_view(self, frame_id: int) -> FrameView:
        """The stack frame of an id; RequestError if it is out of date."""
        view = self.frames.get(frame_id)
        if view is None:
            raise RequestError(f"stack frame {frame_id} is unknown or out of date")
        return view

    def released(self, thread: DebugThread) -> None:
        """A thread is about to resume: what the client holds of its stop goes out of date."""
        self.frames.release(thread.id)
        self.variables.release(thread.id)
        self.jumps.release(thread.id)

    def node_breakpoints(self, selectors: tuple[str, ...]) -> None:
        """Set the breakpoints of the configuration's `nodeBreakpoints`."""
        entries = selector_entries(selectors)
        with self.events.announcing:
            self.breakpoints.replace("nodeBreakpoints", entries)
        for entry in entries:
            if entry.problem is not None:
                self.events.say(f"nodeBreakpoints: {entry.problem}", "important")

    def died(self, error: BaseException) -> None:
        """An exception ends the program: say which node it came from, and stop there if asked."""
        frames = failed_frames(error)
        if not frames:
            return
        if self.debugger.exceptions.wants_uncaught():
            thread = self.debugger.current_thread()
            thread.frames = frames
            text = f"{type(error).__name__}: {error}"
            thread.halt(Stop(reason="uncaught", text=text, exception=error))
            thread.frames = []
        program, position = frames[-1].program, frames[-1].position
        node = node_line(program.nodes[position])
        self.events.say(f"raised at {node}  ({program.file}:{program.line(position)})")

    def take_over(self) -> bool:
        """Go on with what the last client left paused; whether it left anything."""
        left = self.suspended()
        if left is None:
            return False
        self.debugger, self.runs = left
        self.debugger.listener = self.events
        self.breakpoints = BreakpointTable(self.debugger)
        self._found_paused = [t for t in self.debugger.threads() if t.is_stopped]
        return True

    def begin_attached(self, request: Request, *, anew: bool) -> None:
        """Start to catch this process's graphs, if that is not done already (`anew`), for a client
        whose attach was accepted.
        """
        self.attached = self.ready = True
        if anew:
            self.runs.install()
            self.runs.watch_tracing()
        for program in self.debugger.programs():
            if program.parent is None:
                self.events.show(program)
        self._unanswered = request
        self.connection.send_event("initialized")

    def configure(self) -> None:
        """The client has set its breakpoints."""
        self.configured.set()
        self.long_runs.begin()
        if self._unanswered is not None:
            self.connection.respond(self._unanswered)
            self._unanswered = None
            self.on_attached()
            for thread in self._found_paused:
                thread.post(partial(self._tell_found, thread))
            self._found_paused.clear()

    def _tell_found(self, thread: DebugThread) -> None:
        if thread.stop is not None:
            self.events.stopped(thread, thread.stop)

    def edited(self, thread: DebugThread, what: str) -> None:
        """A value was changed on this stopped thread: the views are refreshed after the answer.

        A data breakpoint on it is hit by that, too.
        """
        self.presenter.clear()
        thread.post(lambda: self.events.memory_changed(thread))
        if self.client.supports_invalidated_event:
            body = InvalidatedEventBody(areas=["variables"])
            thread.post(lambda: self.connection.send_event("invalidated", body))
        stop = self.debugger.watches.edited(thread, what)
        if stop is not None:
            thread.post(lambda: thread.announce(stop))

    def say_once(self, text: str) -> None:
        """Tell the user something that they need to hear once in a session."""
        if text not in self._said:
            self._said.add(text)
            self.events.say(text)

    def terminate(self) -> None:
        """Unwind all graph runs and interrupt the main thread, so that `finally` blocks run."""
        self.launched.put(None)
        self.configured.set()
        for thread in self.debugger.threads():
            frame = thread.top
            thread.abandon()
            if frame is not None:
                late = exempt(threading.Timer(_NODE_S, thread.abandon_node, [frame]))
                late.daemon = True
                late.start()
        self.python.let_go()
        main = threading.main_thread().ident
        in_graph = [t.native_id for t in self.debugger.threads() if t.frames]
        if main is not None and main not in in_graph:
            raise_in_thread(main, KeyboardInterrupt)

    def leave(self, terminate: bool) -> None:
        """The client disconnects: end the process, or leave it running without a debugger."""
        if terminate:
            self._answer_rest(0)
            self.exit_process(0)
        self.left_running = True
        self.end()
        self._answer_rest(_GOODBYE_S)
        self.connection.close()

    def _answer_rest(self, seconds: float) -> None:
        """What comes behind `disconnect`, such as another one, until the client closes."""
        end = time.monotonic() + seconds
        while (request := self._next_until(end)) is not None:
            if request.command == "disconnect":
                self.connection.respond(request)
            else:
                self.connection.fail(request, "the session is closed")

    def _next_until(self, end: float) -> Request | None:
        try:
            request = self._queue.get(timeout=max(end - time.monotonic(), 0))
        except queue.Empty:
            return None
        if request is None:
            self._queue.put(None)
        return request

    def finish(self) -> None:
        """The user's program is over: everything it wrote is on its way before the end."""
        self.end()

    def end(self) -> None:
        """Take the debugger out of the process: patches undone, nothing stopped, nothing held."""
        if not self._left_paused:
            self.runs.uninstall()
            self.debugger.end()
        self._let_go()

    def suspend(self) -> None:
        """Leave what is stopped as it is, for the next client; until then nothing else stops."""
        if not any(thread.is_stopped for thread in self.debugger.threads()):
            self.end()
            return
        self._left_paused = True
        self.breakpoints.clear()
        self.debugger.filter_exceptions(ExceptionFilters(frozenset()))
        self.debugger.entry_pending = False
        self.on_suspended(self.debugger, self.runs)
        self._let_go()

    def _let_go(self) -> None:
        """Forget what the client held."""
        self.python.end()
        self.long_runs.end()
        self.early.fail()
        self.frames.clear()
        self.variables.clear()
        self.jumps.clear()
        self.presenter.clear()
        self.memory.clear()
        self.scratch.clear()
        self.on_detached()
