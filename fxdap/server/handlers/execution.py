"""continue, next, stepOut, pause, threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.frame import Frame
from fxdap.engine.plan import Plan, step_line, step_out, step_out_line, step_over
from fxdap.engine.thread import DebugThread
from fxdap.graphs.compile.frames import is_compiling
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    ContinueArguments,
    ContinueResponseBody,
    NextArguments,
    PauseArguments,
    StepOutArguments,
    TerminateThreadsArguments,
    Thread,
    ThreadsResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves(
    "continue",
    When.LANDED,
    quick=True,
    offers=Capabilities(supports_single_thread_execution_requests=True),
)
def continue_(session: Session, arguments: ContinueArguments) -> Struct:
    """Let the thread run on; other stopped threads stay stopped, with `singleThread` or without."""
    _resume(session, arguments, None)
    others = any(t.is_stopped and t.id != arguments.thread_id for t in session.debugger.threads())
    others = others or session.python.client.holds_any()
    return ContinueResponseBody(all_threads_continued=not others)


@serves("next", When.LANDED, quick=True, offers=Capabilities(supports_stepping_granularity=True))
def next_(session: Session, arguments: NextArguments) -> None:
    """Step over: stop before the next node of this graph, or of another source line (`line`)."""
    _resume(session, arguments, step_line if arguments.granularity == "line" else step_over)


@serves("stepOut", When.LANDED, quick=True)
def step_out_(session: Session, arguments: StepOutArguments) -> None:
    """Run to the end of the innermost module, or of the graph; with `line` past the call's line."""
    _resume(session, arguments, step_out_line if arguments.granularity == "line" else step_out)


def _resume(
    session: Session,
    arguments: ContinueArguments | NextArguments | StepOutArguments,
    step: Callable[[Frame], Plan] | None,
) -> None:
    thread = session.stopped_thread(arguments)

    def go() -> None:
        top = thread.top
        thread.resume(step(top) if step is not None and top is not None else None)

    session.released(thread)
    session.requests.after_response(go)


@serves("pause")
def pause(session: Session, arguments: PauseArguments) -> None:
    """Stop the thread before its next node."""
    thread = session.thread(arguments.thread_id)
    if thread is None:
        if arguments.thread_id != MAIN_THREAD.id:
            raise RequestError(f"thread {arguments.thread_id} is over")
        session.debugger.pause_pending = True
        _say_what_it_waits_for(session, threading.main_thread().ident or 0)
        return
    if not thread.is_stopped:
        if session.events.is_held(thread):
            session.requests.after_response(lambda: session.events.say(_IN_PYTHON))
        elif not thread.frames:
            _say_what_it_waits_for(session, thread.native_id)
        thread.pause()


def _say_what_it_waits_for(session: Session, native_id: int) -> None:
    text = _COMPILING if is_compiling(native_id) else _WAITING
    session.requests.after_response(lambda: session.events.say(text))


_COMPILING = (
    "torch.compile is at work and holds a lock of the whole process, so it is not stopped: the "
    "program pauses before the next graph's first node."
)
_IN_PYTHON = (
    "This thread is stopped in Python, in the Python session: it pauses before the next node once "
    "it goes on there."
)
_WAITING = "No graph is running now: the program pauses before the next graph's first node."
MAIN_THREAD = Thread(id=1, name="MainThread")


@serves("terminateThreads", offers=Capabilities(supports_terminate_threads_request=True))
def terminate_threads(session: Session, arguments: TerminateThreadsArguments) -> None:
    """Unwind the graphs that threads run, so that their `finally` blocks run and they end."""
    wanted = [_running(session, ident) for ident in arguments.thread_ids or []]
    for thread in wanted:
        session.released(thread)
        session.requests.after_response(thread.abandon)


def _running(session: Session, ident: int) -> DebugThread:
    thread = session.thread(ident)
    if thread is None:
        raise RequestError(
            f"thread {ident} runs no graph that could be unwound; 'terminate' ends the program"
        )
    return thread


@serves("threads", When.ALWAYS, quick=True)
def threads(session: Session, arguments: Struct) -> Struct:
    """Threads that have run a graph; the main thread before any has."""
    session.debugger.forget_ended_threads()
    found = [Thread(id=t.id, name=t.name) for t in session.debugger.threads()]
    found += session.python.client.relayed_threads()
    return ThreadsResponseBody(threads=found or [MAIN_THREAD])
