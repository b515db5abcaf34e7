"""Who is debugpy's client: a child session, or a relay into the graph's own session."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fxdap.engine.own_threads import exempt
from fxdap.server import debugpy_host, debugpy_threads
from fxdap.server.debugpy_host import Door
from fxdap.wire.envelope import Request, Response
from fxdap.wire.messages import SourceBreakpoint, StartDebuggingRequestArguments, Thread

if TYPE_CHECKING:
    from fxdap.server.python_relay import PythonRelay
    from fxdap.server.session import Session

CHILD_TYPE = "fxdap-python"
"""VS Code gives a child session the type of its parent instead; there the key `debugpy` tells."""
PATIENCE_S = 20.0
"""For a client to begin its Python session; after that a step goes on without."""


class PythonClient:
    """Sees to it that debugpy has a client when Python is to be debugged.

    Threads: `call_in` works on a thread of its own, the rest is called by the server thread, and
    `look` by debugpy's. `_changed` guards everything.
    """

    def __init__(self, session: Session, listener: object) -> None:
        self._session = session
        self._listener = listener
        self.my_code = True
        self.host = "127.0.0.1"
        self._changed = threading.Condition()
        self._answer: Response | None = None
        self._asked: int | None = None
        self._relay: PythonRelay | None = None
        self._breakpoints: dict[str, dict[int, SourceBreakpoint]] = {}

    # How it comes.

    def begin(self) -> None:
        """Have it attach, whatever the program does meanwhile."""
        self.call_in(lambda: None)

    def await_client(self) -> None:
        """The same, before the calling thread goes on."""
        self._session.debugger.current_thread()  # so that it has a number when Python stops it
        done = threading.Event()
        self.call_in(done.set)
        done.wait()
        debugpy_threads.trace_here()

    def call_in(self, then: Callable[[], None]) -> None:
        """On a thread of its own: importing debugpy and a client's attaching take their time."""

        def work() -> None:
            try:
                problem = self._attach()
                if problem is not None:
                    self._session.say_once(problem)
            finally:
                then()

        exempt(threading.Thread(target=work, name="fxdap-python", daemon=True)).start()

    def _attach(self) -> str | None:
        """Have the client attach; what to tell the user if that fails."""
        if debugpy_host.is_attached():
            return None
        try:
            door = debugpy_host.open_debugpy(self.host)
        except RuntimeError:
            return (
                "debugpy listens in this process, but no client is attached to it: attach your "
                "Python debugger, then Step In enters Python"
            )
        debugpy_host.listen_to_client(self._listener)
        if self._session.client.supports_start_debugging_request:
            return self._ask_client(door)
        return self._open_relay(door)

    def _ask_client(self, door: Door) -> str | None:
        arguments = StartDebuggingRequestArguments(
            request="attach", configuration=child_configuration(door, self.my_code)
        )
        with self._changed:
            self._answer = None
            self._asked = self._session.connection.request("startDebugging", arguments)
            self._changed.wait_for(self._settled, PATIENCE_S)
            self._asked = None
            answer: Response | None = self._answer
        if debugpy_host.is_attached():
            return None
        reason = answer.message if answer is not None and not answer.success else "no answer"
        return f"Step In stays in the graph: the client began no Python session ({reason})"

    def _settled(self) -> bool:
        refused = self._answer is not None and not self._answer.success
        return refused or debugpy_host.is_attached() or self._session.debugger.ended

    def take_response(self, response: Response) -> None:
        """The client's answer to startDebugging."""
        with self._changed:
            if response.request_seq == self._asked:
                self._answer = response
            self._changed.notify_all()

    def look(self) -> None:
        """Something has happened that may settle what is waited for."""
        with self._changed:
            self._changed.notify_all()

    def _open_relay(self, door: Door) -> str | None:
        from fxdap.server.python_relay import PythonRelay

        try:
            relay = PythonRelay(self._session, door)
        except OSError as error:
            return f"Step In stays in the graph: {error}"
        try:
            relay.begin(door.token, child_configuration(door, self.my_code))
            with self._changed:
                for path, wanted in self._breakpoints.items():
                    relay.set_breakpoints(path, wanted)
                if not self._session.debugger.ended:
                    self._relay = relay
            relay.configured()
        except OSError as error:
            relay.close()
            return f"Step In stays in the graph: {error}"
        if self._relay is None:  # the graph's client has left meanwhile
            relay.close()
        return None

    # The relay, if there is one.

    def takes(self, request: Request) -> bool:
        """Whether a request is about a stop that is relayed; then it is answered from there."""
        return self._relay is not None and self._relay.takes(request)

    def set_breakpoints(self, path: str, wanted: dict[int, SourceBreakpoint]) -> None:
        """The client's breakpoints of a Python file, by their ids, for a relay that may come."""
        with self._changed:
            self._breakpoints[path] = wanted
            if self._relay is not None:
                self._relay.set_breakpoints(path, wanted)

    def relayed_threads(self) -> list[Thread]:
        """Threads that the client knows only because Python stopped them."""
        return self._relay.threads() if self._relay is not None else []

    def holds_any(self) -> bool:
        """Whether the client sees some thread stopped in Python."""
        return self._relay is not None and self._relay.holds_any()

    def end(self) -> None:
        """The graph's client leaves: nothing waits for it any more."""
        with self._changed:
            relay, self._relay = self._relay, None
            self._changed.notify_all()
        if relay is not None:
            relay.close()


def child_configuration(door: Door, my_code: bool) -> dict[str, Any]:
    """What a client attaches with to debugpy in this process.

    Each thread is stopped and stepped by itself, as graphs are.
    """
    return {
        "type": CHILD_TYPE,
        "name": "Python",
        "debugpy": door._asdict(),
        "python": [sys.executable],
        "justMyCode": my_code,
        "showReturnValue": True,
        "stopAllThreadsOnSuspend": False,
        "steppingResumesAllThreads": False,
    }
