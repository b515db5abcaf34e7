"""The Python debugger beside a graph session: when it is there, and how a step enters Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from fxdap.engine.descent import Descent
from fxdap.engine.frame import Frame
from fxdap.engine.opaque import runs_python
from fxdap.engine.plan import Plan, next_line, step_in
from fxdap.engine.thread import DebugThread
from fxdap.graphs.entering import Body, enter
from fxdap.graphs.python_targets import (
    PythonTarget,
    is_users_code,
    may_run_python,
    python_targets,
)
from fxdap.server import debugpy_host, debugpy_threads
from fxdap.server.python_client import PythonClient

if TYPE_CHECKING:
    from fxdap.server.session import Session


class PythonSide:
    """Brings debugpy in when a step wants to enter Python, and keeps the two apart.

    A thread is stopped by one of the two at a time. While it is stopped here, debugpy does not
    trace it; while debugpy holds it, it is running for the graph's client. Our own threads are
    exempt from debugpy, and it never stops in our code, so none of our locks can be held by a
    thread that it stopped.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._listener = _Listener(self)
        self.client = PythonClient(session, self._listener)
        debugpy_host.keep_out()
        debugpy_host.listen_to_client(self._listener)

    # What the engine tells, on the user's thread.

    def graph_stopped(self) -> None:
        """The calling thread stops before a node."""
        if "pydevd" in sys.modules:
            debugpy_threads.leave_thread()

    def graph_resumed(self) -> None:
        """The calling thread goes on."""
        if "pydevd" in sys.modules:
            debugpy_threads.return_thread()

    # Steps.

    def step_in(
        self,
        thread: DebugThread,
        target: PythonTarget | Body | None = None,
        *,
        by_line: bool = False,
    ) -> None:
        """Step into what the node calls, graph or Python, whichever comes first.

        A module that is the user's is entered as Python; others are traced.
        `by_line`: what the later nodes of the same line call will do too.
        """
        frame = thread.top
        if frame is None:
            thread.resume()
            return
        if isinstance(target, Body):
            thread.resume(enter(frame, target))
            return
        wanted = self._wanted(frame, target)
        plan = step_in(frame) if wanted is not None else enter(frame)
        if by_line and target is None:
            plan.index, plan.by_line = next_line(frame), True
            if wanted is None and _runs_python(frame, plan.index):
                wanted = is_users_code
        if wanted is None:
            thread.resume(plan)
        elif debugpy_host.is_attached():
            thread.resume(plan, self._descent(thread, plan, wanted))
        else:
            thread.reserve()
            self.client.call_in(lambda: self._resume_in(thread, plan, wanted))

    def _wanted(
        self, frame: Frame, target: PythonTarget | None
    ) -> Callable[[CodeType], bool] | None:
        """What the step may enter; None if no Python of the user's is there."""
        if target is not None:
            return target.code.__eq__
        try:
            if targets := {each.code for each in python_targets(frame)}:
                return targets.__contains__
            return is_users_code if may_run_python(frame) else None
        except Exception:  # attributes of the user's objects are read: anything may happen
            return None

    def _resume_in(
        self, thread: DebugThread, plan: Plan, wanted: Callable[[CodeType], bool]
    ) -> None:
        attached = debugpy_host.is_attached()
        thread.resume(plan, self._descent(thread, plan, wanted) if attached else None)

    def _descent(
        self, thread: DebugThread, plan: Plan, wanted: Callable[[CodeType], bool]
    ) -> Descent:
        def entered(python: FrameType) -> None:
            # The step has landed: a graph that this code runs is not what it was to enter.
            plan.into = False
            if debugpy_threads.is_hidden(python):
                self._session.say_once(
                    f"Step In passed by {python.f_code.co_name} ({python.f_code.co_filename}): it "
                    f'is a library\'s code; "python": {{"justMyCode": false}} enters it'
                )
                return
            debugpy_threads.stop_in(python)

        return Descent(wanted, entered)

    def client_said(self, command: str) -> None:
        """A message of debugpy's client, on debugpy's thread, before it is served."""
        if command in _STOPPING:
            stopped = {t.native_id for t in self._session.debugger.threads() if t.stop is not None}
            debugpy_threads.trace_all(spared=stopped)

    def client_told(self, command: str) -> None:
        """An answer to debugpy's client."""
        if command == "configurationDone":
            debugpy_host.watch_client()
        if command in {"configurationDone", "disconnect"}:
            self.client.look()

    # The end.

    def end(self) -> None:
        """The graph's client leaves: nothing waits for it any more."""
        debugpy_host.listen_no_more(self._listener)
        self.client.end()

    def let_go(self) -> None:
        """The program is to end: a thread that debugpy holds cannot be unwound."""
        debugpy_threads.go_on()


def _runs_python(frame: Frame, end: int) -> bool:
    """Whether a node from the current one up to `end` calls the user's Python."""
    program = frame.program
    return any(
        runs_python(program.module, program.nodes[index]) for index in range(frame.position, end)
    )


_STOPPING = {
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setExceptionBreakpoints",
    "pause",
}


class _Listener:
    """debugpy's messages, as pydevd's public hook hands them out."""

    def __init__(self, side: PythonSide) -> None:
        self._side = side

    def before_send(self, message: dict[str, Any]) -> None:
        if message.get("type") == "response":
            self._side.client_told(str(message.get("command")))

    def after_receive(self, message: dict[str, Any]) -> None:
        self._side.client_said(str(message.get("command")))
