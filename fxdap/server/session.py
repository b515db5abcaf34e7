"""One client's session with this process: what it holds, how it begins and how it ends."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from fxdap.engine.debugger import Debugger
from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.postmortem import failed_frames
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.graphs.runs import GraphRuns
from fxdap.server.breakpoint_table import BreakpointTable
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
from fxdap.server.requests import Requests
from fxdap.server.termination import Termination
from fxdap.server.variables_tree import Branch
from fxdap.view.node_text import node_line
from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import InitializeRequestArguments, InvalidatedEventBody

_GOODBYE_S = 2.0
"""For the client to close the connection of a process that runs on, before it is closed here."""


class Session:
    """A client and the debugger it drives.

    Threads: those of `Requests` call the handlers, which call this; user threads send events. When
    the client is gone `on_end` is called once.
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
        self.on_end = on_end
        self.requests = Requests(self)
        self.termination = Termination(self)
        self.early = EarlyRequests(connection, self.requests.enqueue)
        self.work: dict[int, Work] = {}
        """By thread, what is under way there and can be given up, but not be interrupted."""

    def start(self) -> None:
        """Serve the client from now on."""
        self.requests.start()

    def stopped_thread(self, arguments: Struct) -> DebugThread:
        """The stopped thread that a request's arguments name; RequestError if there is none."""
        thread = self.named_thread(arguments)
        if thread is None or not thread.is_stopped:
            raise RequestError.not_stopped()
        return thread

    def named_thread(self, arguments: Any) -> DebugThread | None:
        """The thread that a request's arguments name, else the one that stopped last."""
        if (ident := getattr(arguments, "thread_id", None)) is not None:
            return self.thread(ident)
        if (frame_id := getattr(arguments, "frame_id", None)) is not None:
            return self.frame_view(frame_id).thread
        if (reference := getattr(arguments, "variables_reference", None)) is not None:
            owner = self.variables.owner(reference)
            if owner is None:
                raise RequestError(f"variablesReference {reference} is unknown or out of date")
            return self.debugger.thread(owner)
        return self.last_stopped()

    def thread(self, ident: int) -> DebugThread | None:
        """The thread of an id, None if it is over or has run no graph yet.

        RequestError if no thread was ever listed with that id.
        """
        thread = self.debugger.thread(ident)
        if thread is None and not self.debugger.has_given_out(ident):
            raise RequestError(f"there is no thread {ident}")
        return thread

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

    def leave(self, terminate: bool) -> None:
        """The client disconnects: end the process, or leave it running without a debugger."""
        if terminate:
            self.requests.answer_rest(0)
            self.exit_process(0)
        self.left_running = True
        self.end()
        self.requests.answer_rest(_GOODBYE_S)
        self.connection.close()

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
