"""One client's debug session, from `initialize` to the end of every process it started."""

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Raw
from msgspec.json import encode
from msgspec.structs import replace

from fxdap.adapter.client import Client
from fxdap.adapter.empty import EMPTY
from fxdap.adapter.exits import Exit, crash_report
from fxdap.adapter.replay import REMEMBERED, ReplayLog
from fxdap.adapter.states import GONE, Action, State, action
from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_arguments, decode_as, decode_body, request_spec
from fxdap.wire.envelope import Event, Request, Response
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    BreakpointEventBody,
    CancelArguments,
    ConfigurationDoneArguments,
    DisconnectArguments,
    InitializeRequestArguments,
    RestartArguments,
    SetBreakpointsResponseBody,
)
from fxdap.wire.offer import CAPABILITIES

if TYPE_CHECKING:
    from fxdap.adapter.debuggee import Debuggee
    from fxdap.adapter.farewell import Farewell
    from fxdap.adapter.start import LaunchPlan

_DEATH_S = 1.0  # for a killed process to be gone
_LINGER_S = 5.0  # for a client to disconnect after the end, before the adapter ends by itself


class _Attempt(NamedTuple):
    """A launch, attach or restart under way: the request that awaits its outcome."""

    request: Request
    restart: Raw | None = None
    """For a restart, the arguments with which the adapter launches by itself."""


class Session:
    """Serves what `states` gives the adapter to serve, and relays the rest.

    Threads: the *client* thread runs `run`: it reads the client and blocks only to take leave
    (see `farewell`). *Debuggee* threads and *watchers* call the `on_...` methods;
    a *restart* thread waits for the old process to be gone before it starts the new one.
    `_lock` guards state, debuggee and attempt; nothing is sent or waited for while it is held.
    """

    def __init__(self, connection: Connection, on_finished: Callable[[], None]) -> None:
        self._client = Client(connection)
        self._on_finished = on_finished
        self._lock = threading.Lock()
        self._state = State.NEW
        self._debuggee: Debuggee | None = None
        self._attempt: _Attempt | None = None
        self._initialize = Raw(b"{}")
        self._in_terminal = False
        self._launched_with: Raw | None = None
        self._replay = ReplayLog()
        self._said_terminated = False
        self._terminating = False
        self._farewell: Farewell | None = None
        self._handlers: dict[str, Callable[[Request], None]] = {
            "initialize": self._serve_initialize,
            "launch": self._serve_launch,
            "attach": self._serve_attach,
            "restart": self._serve_restart,
            "terminate": self._serve_terminate,
            "disconnect": self._serve_disconnect,
            "cancel": self._serve_cancel,
        }

    def run(self) -> None:
        """Serve the client until it is gone; the calling thread is the client thread."""
        while (message := self._client.connection.read()) is not None:
            if isinstance(message, Request):
                self._serve(message)
            elif isinstance(message, Response):
                self._client.take_response(message)
        if self._farewell is not None:
            self._farewell.client_left()
        else:
            self.abort()

    def abort(self) -> None:
        """The client is gone, or the adapter is told to end: leave nothing running."""
        self._client.lose()
        debuggee = self._close()
        if debuggee is not None:
            debuggee.abandon("the client is gone")
            debuggee.kill()
            debuggee.finished.wait(_DEATH_S)
        self._on_finished()

    # What debuggees report.

    def on_connected(self, debuggee: "Debuggee") -> None:
        """Its server can be reached: introduce the client to it."""
        debuggee.ask(
            "initialize", self._initialize, lambda answer: self._introduced(debuggee, answer)
        )

    def on_event(self, debuggee: "Debuggee", event: Event) -> None:
        """Pass it on, unless it is for the adapter."""
        if event.event == "initialized" and self._attempt is not None:
            self._configure(debuggee)
            return
        if event.event == "terminated":
            self._said_terminated = True
        elif event.event == "breakpoint":
            self._replay.changed(decode_body(BreakpointEventBody, event.body).breakpoint)
        self._client.tell(event)

    def on_request(self, debuggee: "Debuggee", request: Request) -> None:
        """Ask the client for the debuggee."""

        def answered(response: Response | None) -> None:
            if response is not None:
                debuggee.answer(response, request.seq)

        self._client.relay(request, answered)

    def on_ended(self, debuggee: "Debuggee", exit: Exit | None) -> None:
        """It is gone and everything it said is passed on: tell the client how it ended."""
        with self._lock:
            if debuggee is not self._debuggee or self._state is State.CLOSED:
                return
            attempt, self._attempt, self._debuggee = self._attempt, None, None
            retry = attempt is not None and attempt.restart is None and not self._terminating
            self._state = State.READY if retry else State.ENDED
        if attempt is not None:
            self._client.fail(attempt.request, RequestError(debuggee.reason, show_user=True))
        if not retry:
            self._tell_ended(debuggee, exit)

    # What the client asks.

    def _serve(self, request: Request) -> None:
        try:
            verdict = action(self._state, request.command)
            if verdict is Action.RELAY:
                self._relay(request)
            elif verdict is Action.SERVE:
                self._handlers[request.command](request)
            else:
                decode_arguments(request)
                if isinstance(verdict, str):
                    raise RequestError(verdict)
                self._client.respond(request, EMPTY[request.command])
        except RequestError as error:
            self._client.fail(request, error)
        except Exception as error:
            self._client.fail(request, f"fxdap failed here ({type(error).__name__}: {error})")

    def _relay(self, request: Request) -> None:
        debuggee = self._debuggee
        if debuggee is None:
            raise RequestError("the debuggee has ended")
        if request_spec(request.command) is None:
            raise RequestError(f"unknown request {request.command!r}")
        if request.command in REMEMBERED:
            self._replay.note(request)
        if request.command == "setBreakpoints":
            self._relay_breakpoints(debuggee, request)
        else:
            debuggee.relay(request)

    def _relay_breakpoints(self, debuggee: "Debuggee", request: Request) -> None:
        """Pass `setBreakpoints` on and hear where the breakpoints are."""
        kept = replace(request, arguments=request.arguments.copy())
        pass_on = partial(debuggee.pass_on, kept)

        def answered(answer: Response | None) -> None:
            if answer is not None:
                self._replay.answered(kept, answer)
            pass_on(answer)

        debuggee.ask(request.command, kept.arguments, answered)

    def _serve_initialize(self, request: Request) -> None:
        arguments = decode_as(request, InitializeRequestArguments)
        self._initialize = request.arguments.copy()
        self._in_terminal = bool(arguments.supports_run_in_terminal_request)
        self._state = State.READY
        self._client.respond(request, CAPABILITIES)

    def _serve_launch(self, request: Request) -> None:
        from fxdap.adapter.start import open_log, plan_launch

        plan = plan_launch(request.arguments)
        open_log(self._client, plan.log_folder)
        self._launched_with = request.arguments.copy()
        self._launch(plan, _Attempt(request))

    def _serve_attach(self, request: Request) -> None:
        from fxdap.adapter.start import open_log, plan_attach, start_attach

        address, log_folder = plan_attach(request.arguments)
        open_log(self._client, log_folder)
        self._begin(
            _Attempt(request), lambda debuggee: start_attach(address, debuggee, self._client)
        )

    def _serve_restart(self, request: Request) -> None:
        from fxdap.adapter.start import plan_launch

        given = decode_as(request, RestartArguments).arguments
        raw = Raw(encode(given)) if given else self._launched_with
        if raw is None or self._launched_with is None:
            raise RequestError("only a launched program can be restarted, this one was attached to")
        plan = plan_launch(raw)
        with self._lock:
            old = self._debuggee
            if old is None:
                raise RequestError("the debuggee has ended")
            self._state = State.STARTING
            self._debuggee, self._attempt = None, None
        self._launched_with = raw
        attempt = _Attempt(request, raw)
        threading.Thread(
            target=self._restart, args=(old, plan, attempt), name="restart", daemon=True
        ).start()

    def _serve_terminate(self, request: Request) -> None:
        from fxdap.adapter.farewell import ask_to_end

        self._terminating = True
        debuggee = self._debuggee
        if debuggee is None:
            self._client.respond(request)
        elif not debuggee.ready:
            self._client.respond(request)
            debuggee.kill()
        else:
            ask_to_end(self._client, debuggee, request)

    def _serve_disconnect(self, request: Request) -> None:
        from fxdap.adapter.farewell import Farewell

        if self._farewell is not None:
            self._farewell.ask(request)
            return
        wish = self._wish(decode_as(request, DisconnectArguments))
        debuggee = self._close()
        if debuggee is None:
            self._client.respond(request)
            self._client.connection.finish_sending()
            self._on_finished()
        else:
            self._farewell = Farewell(self._client, debuggee, request, wish, self._on_finished)

    def _wish(self, given: DisconnectArguments) -> DisconnectArguments:
        """What becomes of the debuggee, as the client wants it or by how it came to be."""
        owned = self._debuggee is not None and self._debuggee.owned
        terminate = owned if given.terminate_debuggee is None else given.terminate_debuggee
        if owned and given.suspend_debuggee and not terminate:
            raise RequestError(
                "disconnect: a launched program cannot stay paused, since no other client could "
                "attach to it; leave suspendDebuggee out, or start it with fxdap.listen and attach"
            )
        return replace(given, terminate_debuggee=terminate)

    def _serve_cancel(self, request: Request) -> None:
        arguments = decode_as(request, CancelArguments)
        debuggee = self._debuggee
        if debuggee is None or not debuggee.ready:
            self._client.respond(request)
        elif arguments.request_id is None:
            debuggee.relay(request)
        elif (seq := debuggee.seq_of(arguments.request_id)) is None:
            self._client.respond(request)  # it has its answer already
        else:
            debuggee.ask(
                "cancel", replace(arguments, request_id=seq), partial(debuggee.pass_on, request)
            )

    # How debuggees come and go.

    def _launch(self, plan: "LaunchPlan", attempt: _Attempt) -> None:
        from fxdap.adapter.start import start_launch

        def start(debuggee: "Debuggee") -> None:
            def emit(category: str, text: str) -> None:
                if self._debuggee is debuggee:
                    self._client.output(category, text)

            start_launch(plan, debuggee, self._client, emit, self._in_terminal)

        self._begin(attempt, start)

    def _begin(self, attempt: _Attempt, start: Callable[["Debuggee"], None]) -> None:
        from fxdap.adapter.debuggee import Debuggee

        debuggee = Debuggee(self._client.connection, self)
        with self._lock:
            if self._state is State.CLOSED:
                raise RequestError(GONE)
            before, self._state = self._state, State.STARTING
            self._debuggee, self._attempt = debuggee, attempt
        try:
            start(debuggee)
        except RequestError:
            with self._lock:
                if self._debuggee is debuggee:
                    self._state, self._debuggee, self._attempt = before, None, None
            raise
        if self._debuggee is not debuggee:  # the client left meanwhile
            debuggee.kill()

    def _introduced(self, debuggee: "Debuggee", answer: Response | None) -> None:
        """The debuggee's server has answered `initialize`: let it launch."""
        with self._lock:
            attempt = self._attempt
            if debuggee is not self._debuggee or attempt is None or answer is None:
                return
            debuggee.ready = answer.success
            self._state = State.RUNNING
            if attempt.restart is None:
                self._attempt = None
        if not answer.success:
            self._begun(debuggee, attempt, answer)
            return
        command, arguments = attempt.request.command, attempt.request.arguments
        if attempt.restart is not None:
            command, arguments = "launch", attempt.restart
        debuggee.ask(command, arguments, lambda answer: self._begun(debuggee, attempt, answer))

    def _restart(self, old: "Debuggee", plan: "LaunchPlan", attempt: _Attempt) -> None:
        old.abandon("the debuggee is restarted")
        if old.stopped_thread is not None:
            self._client.tell_continued(old.stopped_thread)
        old.kill()
        old.finished.wait(_DEATH_S)
        try:
            self._launch(plan, attempt)
        except RequestError as error:
            self._client.fail(attempt.request, error)
            with self._lock:
                self._state = State.ENDED if self._state is State.STARTING else self._state
            self._client.tell_terminated()

    def _begun(self, debuggee: "Debuggee", attempt: _Attempt, answer: Response | None) -> None:
        """The debuggee has answered launch or attach."""
        with self._lock:
            self._attempt = None
            refused = answer is not None and not answer.success and debuggee is self._debuggee
            if refused:
                self._debuggee, self._state = None, State.READY
        debuggee.pass_on(attempt.request, answer)
        if refused:
            debuggee.abandon("the launch failed")
            debuggee.kill()
            if attempt.restart is not None:
                self._client.tell_terminated()

    def _configure(self, debuggee: "Debuggee") -> None:
        """Give a restarted debuggee the breakpoints of the one before."""
        for command, arguments in self._replay:
            debuggee.ask(command, arguments, self._tell_breakpoints)
        debuggee.ask("configurationDone", ConfigurationDoneArguments(), lambda _: None)

    def _tell_breakpoints(self, answer: Response | None) -> None:
        """What became of the breakpoints that the client knows."""
        if answer is None or not answer.success:
            return
        for each in decode_body(SetBreakpointsResponseBody, answer.body).breakpoints or []:
            self._client.tell_changed(each)

    def _close(self) -> "Debuggee | None":
        """Enter the last state; gives the debuggee to get rid of, only once."""
        with self._lock:
            self._state = State.CLOSED
            debuggee, self._debuggee = self._debuggee, None
            attempt, self._attempt = self._attempt, None
        if attempt is not None:
            self._client.fail(attempt.request, RequestError.cancelled())
        return debuggee

    def _tell_ended(self, debuggee: "Debuggee", exit: Exit | None) -> None:
        if exit is not None:
            stopped = debuggee.stopped_thread is not None
            report = crash_report(exit, debuggee.pid, stopped, debuggee.last_command)
            if report:
                self._client.output("stderr", report)
            self._client.tell_exited(exit.code)
        if not self._said_terminated:
            self._said_terminated = True
            self._client.tell_terminated()
        linger = threading.Timer(_LINGER_S, self._on_finished)
        linger.daemon = True
        linger.start()
