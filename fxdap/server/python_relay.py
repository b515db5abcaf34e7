"""Python's stops in the graph's own session, for a client that has no child sessions."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Raw, to_builtins
from msgspec.json import decode, encode
from msgspec.structs import replace

from fxdap.engine.own_threads import exempt
from fxdap.engine.thread import DebugThread
from fxdap.server import debugpy_threads
from fxdap.server.debugpy_host import Door
from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body
from fxdap.wire.envelope import Event, Request, Response
from fxdap.wire.messages import (
    ContinuedEventBody,
    ContinueResponseBody,
    OutputEventBody,
    SetBreakpointsResponseBody,
    SourceBreakpoint,
    StoppedEventBody,
    Thread,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

FIRST_ID = 1 << 30
"""debugpy's numbers are shown from here on; a graph session's own never come so far."""
ANSWER_S = 10.0
"""For debugpy, in this process, to take part in beginning and setting breakpoints."""
_IDS = ("frameId", "variablesReference", "sourceReference")
_RESUMING = {"continue", "next", "stepIn", "stepOut"}
_SERVED = _RESUMING | {
    "stackTrace",
    "exceptionInfo",
    "scopes",
    "variables",
    "setVariable",
    "setExpression",
    "evaluate",
    "completions",
    "stepInTargets",
    "source",
}

Answer = Callable[[Response | None], None]


class PythonRelay:
    """A client of debugpy in this process; the graph's client sees its stops as the session's.

    A thread keeps its number on both sides: the client asks about the thread that is stopped, and
    one debugger stops it at a time, so `takes` knows which of the two is meant. Frames, variables
    and sources of debugpy are numbered from `FIRST_ID`.

    Threads: the *relay* thread reads debugpy; the server thread calls `takes`.
    """

    def __init__(self, session: Session, door: Door) -> None:
        self._session = session
        self._client = session.connection
        sock = socket.create_connection((door.host, door.port), timeout=ANSWER_S)
        sock.settimeout(None)
        self._debugpy = Connection.over_socket(sock, name="debugpy", log=self._client.log)
        self._asked: dict[int, Answer | None] = {}
        self._held: dict[int, int] = {}
        self._breakpoints: dict[int, int] = {}
        exempt(threading.Thread(target=self._read, name="fxdap-relay", daemon=True)).start()

    def begin(self, token: str, configuration: dict[str, Any]) -> None:
        """Attach; breakpoints may be set then. Raises OSError if debugpy does not answer."""
        self._call("pydevdAuthorize", {"debugServerAccessToken": token})
        self._call("initialize", decode(encode(self._session.client)))
        self._call("attach", configuration)

    def configured(self) -> None:
        """Breakpoints are set: from now on debugpy may stop threads."""
        self._call("configurationDone", {})

    def close(self) -> None:
        """Leave debugpy, which lets go of every thread; it never closes a connection itself."""
        self._ask("disconnect", {"terminateDebuggee": False}, lambda _: self._debugpy.close())
        self._debugpy.finish_sending()

    # What the client asks.

    def takes(self, request: Request) -> bool:
        """Whether a request is about a stop in Python; then it is answered from there."""
        asked: dict[str, Any] = decode(request.arguments or b"{}") or {}
        held = self._held.get(asked.get("threadId", 0)) if request.command != "pause" else None
        if held is None and not any((asked.get(name) or 0) >= FIRST_ID for name in _IDS):
            return False
        if request.command not in _SERVED:
            self._client.fail(request, f"{request.command}: the program is stopped in Python")
        elif held is not None and request.command in _RESUMING:
            self._resume(request, asked, held)
        else:
            asked = {**_shifted(asked, -FIRST_ID), **({"threadId": held} if held else {})}
            self._ask(request.command, asked, lambda answer: self._answer(request, answer))
        return True

    def _resume(self, request: Request, asked: dict[str, Any], held: int) -> None:
        """Answer first: the thread may stop in the graph before debugpy's answer is read."""
        del self._held[asked["threadId"]]
        continues = request.command == "continue"
        body = ContinueResponseBody(all_threads_continued=not self.holds_any())
        self._client.respond(request, body if continues else None)
        self._ask(request.command, {**asked, "threadId": held, "singleThread": True}, None)

    def _answer(self, request: Request, answer: Response | None) -> None:
        if answer is None or not answer.success:
            reason = answer.message if answer is not None else "debugpy has left"
            self._client.fail(request, reason or f"debugpy refused {request.command}")
            return
        body = _shifted(decode(answer.body or b"{}"), FIRST_ID)
        for frame in body.get("stackFrames", ()):
            frame["id"] += FIRST_ID
        self._client.forward(replace(answer, body=Raw(encode(body))), request_seq=request.seq)

    def holds_any(self) -> bool:
        """Whether some thread is stopped in Python."""
        return bool(self._held)

    def threads(self) -> list[Thread]:
        """Threads that are stopped in Python and have not run a graph."""
        return [
            Thread(id=ident, name=python.name)
            for ident, held in list(self._held.items())
            if ident >= FIRST_ID and (python := debugpy_threads.thread_of(held)) is not None
        ]

    # Breakpoints.

    def set_breakpoints(self, path: str, wanted: dict[int, SourceBreakpoint]) -> None:
        """Set those of a Python file, by the ids that the client knows; tell which are reached."""

        def answered(answer: Response | None) -> None:
            if answer is None or not answer.success:
                return
            found = decode_body(SetBreakpointsResponseBody, answer.body).breakpoints
            pairs = list(zip(wanted, found, strict=False))
            self._breakpoints |= {b.id: ident for ident, b in pairs if b.id is not None}
            lines = {ident: b.line for ident, b in pairs if b.verified and b.line is not None}
            with self._session.events.announcing:
                self._session.breakpoints.found_in_python(lines)
                self._session.events.programs_bound()

        breakpoints = to_builtins(list(wanted.values()))
        arguments = {"source": {"path": path}, "breakpoints": breakpoints}
        self._ask("setBreakpoints", arguments, answered)

    # What debugpy tells.

    def _read(self) -> None:
        while (message := self._debugpy.read()) is not None:
            if isinstance(message, Event):
                self._take_event(message)
            elif isinstance(message, Response):
                then = self._asked.pop(message.request_seq, None)
                if then is not None:
                    then(message)
        while self._asked:
            _, then = self._asked.popitem()
            if then is not None:
                then(None)

    def _take_event(self, event: Event) -> None:
        if event.event == "stopped":
            self._stopped(decode_body(StoppedEventBody, event.body))
        elif event.event == "continued":
            self._continued(decode_body(ContinuedEventBody, event.body).thread_id)
        elif event.event == "output":
            self._client.send_event("output", decode_body(OutputEventBody, event.body))

    def _stopped(self, body: StoppedEventBody) -> None:
        held = body.thread_id or 0
        thread = self._thread(held)
        ident = thread.id if thread is not None else FIRST_ID + held
        if thread is not None:
            self._session.early.overtaken(thread)
        self._held[ident] = held
        hit = [self._breakpoints.get(each) for each in body.hit_breakpoint_ids or ()]
        told = StoppedEventBody(
            reason=body.reason,
            description="Paused in Python",
            text=body.text,
            thread_id=ident,
            all_threads_stopped=len(self._session.debugger.threads()) == 1,
            hit_breakpoint_ids=[each for each in hit if each is not None] or None,
        )
        self._client.send_event("stopped", told)

    def _continued(self, held: int) -> None:
        """A thread goes on; the client knows, unless it did not ask for that."""
        for ident in [ident for ident, each in list(self._held.items()) if each == held]:
            del self._held[ident]
            body = ContinuedEventBody(thread_id=ident, all_threads_continued=False)
            self._client.send_event("continued", body)

    def _thread(self, number: int) -> DebugThread | None:
        """The thread that debugpy knows by a number, if it has run a graph."""
        python = debugpy_threads.thread_of(number)
        threads = self._session.debugger.threads()
        return next((t for t in threads if t.python_thread is python), None) if python else None

    def _call(self, command: str, arguments: dict[str, Any]) -> None:
        answers: queue.SimpleQueue[Response | None] = queue.SimpleQueue()
        self._ask(command, arguments, answers.put)
        try:
            answer = answers.get(timeout=ANSWER_S)
        except queue.Empty:
            raise TimeoutError(f"debugpy does not answer {command}") from None
        if answer is None or not answer.success:
            raise ConnectionError(f"debugpy refused {command}")

    def _ask(self, command: str, arguments: dict[str, Any], then: Answer | None) -> None:
        def told(seq: int) -> None:
            self._asked[seq] = then

        self._debugpy.request(command, Raw(encode(arguments)), told=told)


def _shifted(value: Any, by: int) -> Any:
    """A payload whose ids are moved; 0 stands for nothing and stays."""
    if isinstance(value, dict):
        return {k: v + by if k in _IDS and v else _shifted(v, by) for k, v in value.items()}
    return [_shifted(each, by) for each in value] if isinstance(value, list) else value
