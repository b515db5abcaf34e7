"""A user thread that runs graphs: its frames, its stops, and the work done while stopped."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fxdap.engine.exceptions import UNWINDING
from fxdap.engine.frame import PAUSE, Frame
from fxdap.engine.interrupts import interrupt_thread, raise_in_thread
from fxdap.engine.plan import Plan, next_graph
from fxdap.engine.postmortem import error_chain
from fxdap.engine.stops import Phase, Stop
from fxdap.engine.travel import Travel
from fxdap.engine.undo import Saved

if TYPE_CHECKING:
    from fxdap.engine.breakpoints import Hits
    from fxdap.engine.debugger import Debugger
    from fxdap.engine.descent import Descent


class Abandoned(BaseException):
    """Unwinds the user's run when the session ends it. User code does not catch BaseException."""


class DebugThread:
    """One thread of the user's program, as the debugger sees it.

    The thread rule: only the user's own thread changes frames and registers, evaluates, and
    reads tensors, because grad mode, autocast and inference mode belong to it. Other threads
    hand it work with `post`, which runs while the thread is stopped, in order; they may also
    call `resume`, `pause` and `abandon`.
    """

    def __init__(self, debugger: Debugger, ident: int, name: str) -> None:
        self.debugger = debugger
        self.id = ident
        self.name = name
        self.native_id = threading.get_ident()
        python = threading.current_thread()
        self._python = weakref.ref(python)
        self.is_native = isinstance(python, threading._DummyThread)
        """Whether it was not made by Python, as autograd's threads are not."""
        self.frames: list[Frame] = []
        self.stop: Stop | None = None
        self.stop_count = 0
        self.plan: Plan | None = None
        self.descent: Descent | None = None
        """A step that is to enter Python, while its node runs."""
        self.stepped = False
        """Whether the stop is where a step was to land, whatever else it is."""
        self.pause_requested = False
        self.is_stepping = False
        """Whether it was resumed with a step that has not landed yet."""
        self.failure: BaseException | None = None
        self._failed_in: Frame | None = None
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.changed: list[Saved] = []
        """What the user has changed since `take_changed` was called."""
        self.evaluating = 0
        """How many evaluations are under way: graphs that they run do not stop."""
        self.ran_code = False
        """Whether conditions, watches or the console have called anything since this was reset."""
        self._resuming = False
        self._abandoned = False
        self.unwound = False
        """Whether its run was ended by `abandon`."""
        self._interrupted = False
        self._travel: Travel | None = None

    @property
    def top(self) -> Frame | None:
        """The innermost frame."""
        return self.frames[-1] if self.frames else None

    @property
    def is_stopped(self) -> bool:
        """Whether it waits for the client: stopped, and not told to go on."""
        return self.stop is not None and not self._resuming

    def is_current(self) -> bool:
        """Whether this is the calling thread; the system reuses the idents of ended ones."""
        return self._python() is threading.current_thread()

    @property
    def python_thread(self) -> threading.Thread | None:
        """Python's own object for it."""
        return self._python()

    @property
    def is_main(self) -> bool:
        """Whether it is the one that runs the user's script, and gets Python's signals."""
        return self._python() is threading.main_thread()

    def has_ended(self) -> bool:
        """Whether the thread is over."""
        python = self._python()
        return python is None or not python.is_alive()

    def enter(self, frame: Frame) -> None:
        """A graph begins on this thread."""
        if self.frames:
            caller = self.frames[-1]
            caller.locate()
            caller.program.runs_a_graph(caller.position)
            frame.call = caller.count_call(frame.program, caller.position)
        else:
            if self.failure is not None:
                self._forget_failure()
            frame.program.runs += 1
            frame.call = frame.program.runs
        self.frames.append(frame)
        if frame.flags_version != frame.program.flags_version:
            frame.refresh_flags()
        if self.evaluating:
            return
        debugger = self.debugger
        if debugger.entry_pending and debugger.take_entry():
            self.plan = next_graph()
        if self.plan is None and len(debugger.known_threads) > 1:
            self.plan = debugger.take_step_of_other(self)
        if self.plan is not None:
            self.plan.entered(frame)
        if self.pause_requested or (debugger.pause_pending and debugger.take_pause()):
            self.pause_requested = True
            frame.pause()

    def awaits_graph(self) -> bool:
        """Whether something may stop in the next graph just because it begins."""
        plan = self.plan
        if plan is not None and (plan.frame is None or plan.into):
            return True
        if self.descent is not None or self.pause_requested:
            return True
        return self.debugger.entry_pending or self.debugger.pause_pending

    def leave(self, frame: Frame) -> None:
        """A graph ended; a step that was to land in it lands in its caller."""
        self.frames.pop()
        if self.descent is not None and self.descent.frame is frame:
            self._end_descent()
        if self._abandoned and frame.history is not None:
            frame.history.restore_modes()
        if frame.history is not None:
            self._hand_on(frame)
            frame.forget_past()
        if frame.has_logged:
            self.debugger.listener.log_ended(frame)
        if self.plan is not None and self.plan.frame is frame:
            self.plan.disarm()
            self.plan.index = len(frame.program)
            self.plan.arm()
        if not self.frames and self.failure is not None:
            self._forget_failure()

    def _hand_on(self, frame: Frame) -> None:
        caller = frame.parent
        if caller is not None and caller.history is not None and frame.history is not None:
            caller.history.inherit(frame.history)

    def _forget_failure(self) -> None:
        """An error that the user's code deals with must not keep values alive."""
        self.failure, self._failed_in = None, None

    def arrive(self, frame: Frame, index: int) -> None:
        """Something waits before node `index`: first what is due after the node before it."""
        if index > 0:
            self.arrive_after(frame, index - 1)
        if index < len(frame.program):
            self.arrive_before(frame, index)

    def arrive_after(self, frame: Frame, index: int) -> None:
        """Node `index` has just run."""
        self._leave_if_abandoned()
        if self.evaluating:
            return
        found = self.debugger.breakpoints.after(frame, index)
        if found:
            self._at(frame, index, "after")
            self._stop_for(self.debugger.breakpoints.judge(found, frame))

    def arrive_before(self, frame: Frame, index: int) -> None:
        """Node `index` is about to run."""
        self._leave_if_abandoned()
        if self.evaluating:
            return
        self._at(frame, index, "before")
        self._stop_before(frame, index)

    def _leave_if_abandoned(self) -> None:
        if self._abandoned:
            self.unwound = True
            raise Abandoned

    def _at(self, frame: Frame, index: int, phase: Phase) -> None:
        frame.position, frame.phase = index, phase

    def _stop_before(self, frame: Frame, index: int) -> None:
        stepped = self.plan is not None and self.plan.reached(frame, index)
        self.stepped = stepped
        hits = self.debugger.breakpoints.before(frame, index)
        if hits and hits.stops:
            self._stop_for(hits)
        elif stepped and self.plan is not None:
            self.halt(Stop(reason="entry" if self.plan.entry else self.plan.reason))
        elif frame.flags[index] & PAUSE and self.pause_requested:
            self.halt(Stop(reason="pause"))

    def _stop_for(self, hits: Hits) -> None:
        if hits.stops:
            self.halt(Stop(reason=hits.reason, text=hits.text, breakpoint_ids=hits.ids))

    def reached(self, frame: Frame, index: int) -> None:
        """A watch has something to say of node `index`, which has just run."""
        self._leave_if_abandoned()
        self._at(frame, index, "after")

    def raised(self, frame: Frame, error: Exception) -> None:
        """A node raised: stop there once, at the innermost node, if a filter asks for it."""
        if isinstance(error, UNWINDING):
            return
        frame.phase = "raised"
        if self.evaluating:
            return
        known = self._is_known(frame, error)
        self.failure = error
        if known:
            return
        self._failed_in = frame
        if self.debugger.exceptions.wants_raised(frame, error):
            self.halt(Stop(reason="exception", text=_describe(error), exception=error))

    def _is_known(self, frame: Frame, error: BaseException) -> bool:
        """Whether the last failure, or what was made of it, passes through an outer frame."""
        inner = self._failed_in
        while inner is not None and inner is not frame:
            inner = inner.parent
        return inner is not None and any(e is self.failure for e in error_chain(error))

    def halt(self, stop: Stop) -> None:
        """Stop here and work for the client until resumed."""
        self._end_descent()
        if self.plan is not None:
            self.plan.disarm()
            self.plan = None
        self._clear_pause()
        if self.debugger.ended:
            return
        self.stop_count = self.debugger.next_stop()
        self.stop = stop
        self._resuming = False
        self.is_stepping = False  # after the stop: another thread must see one of the two
        self.debugger.listener.stopped(self, stop)
        self._work_until_resumed()
        self.stop = None
        self.debugger.listener.resumed(self)
        if self.descent is not None and self.frames:
            self.descent.begin(self.frames[-1])
        self._leave_if_abandoned()
        travel, self._travel = self._travel, None
        if travel is not None:
            self._forget_failure()
            raise travel

    def take_changed(self) -> list[Saved]:
        """What the user has changed since the last call, as it was before."""
        changed, self.changed = self.changed, []
        return changed

    def announce(self, stop: Stop) -> None:
        """It stays where it is stopped, for another reason."""
        self.stop_count = self.debugger.next_stop()
        self.stop = stop
        self.debugger.listener.stopped(self, stop)

    def _end_descent(self) -> None:
        if self.descent is not None:
            self.descent.end()
            self.descent = None

    def _work_until_resumed(self) -> None:
        while True:
            try:
                work = self._work.get()
                if work is None:
                    return
                work()
            except KeyboardInterrupt:
                # An interrupt may come when the work it was meant for has just ended.
                if not self._interrupted:
                    raise
            self._interrupted = False

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the work that the stopped thread does now (CPython only)."""
        self._interrupted = True
        interrupt_thread(self.native_id)

    def _clear_pause(self) -> None:
        if self.pause_requested:
            self.pause_requested = False
            for frame in self.frames:
                frame.unpause()

    def post(self, work: Callable[[], None]) -> None:
        """Have the stopped thread do something. Nothing may escape from `work`."""
        self._work.put(work)

    def resume(self, plan: Plan | None = None, descent: Descent | None = None) -> None:
        """Let a stopped thread go on, to the landing place of a step if one is given.

        With `descent` the step may enter Python on its way.
        """

        def prepare() -> None:
            self.stepped = False
            if plan is not None:
                plan.arm()
            self.plan, self.descent = plan, descent

        # A step that may enter Python can end there: nothing waits for where it lands.
        self.is_stepping = plan is not None and descent is None
        self.reserve()
        self._work.put(prepare)
        self._work.put(None)

    def reserve(self) -> None:
        """It is told to go on, and only waits for `resume`: nothing more is asked of it."""
        self._resuming = True

    def reserve_step(self) -> None:
        """As `reserve`; requests to go on wait for where this leads."""
        self.is_stepping = True
        self.reserve()

    def stay(self) -> None:
        """What it was reserved for came to nothing: it is stopped as before."""
        self._resuming = False
        self.is_stepping = False

    def go_to(self, travel: Travel) -> None:
        """Let this stopped thread, the calling one, stop at another place of its run."""
        self._travel = travel
        self.reserve_step()
        self._work.put(None)

    def pause(self) -> None:
        """Stop before the next node this thread runs."""
        self.pause_requested = True
        for frame in list(self.frames):
            frame.pause()

    def detach(self) -> None:
        """Let the thread run on by itself: the debugger is going away."""
        self.plan = None
        self.pause_requested = False
        for frame in list(self.frames):
            frame.clear_flags()
            frame.forget_past()
        self._forget_failure()
        self.changed.clear()
        self._work.put(None)

    def abandon(self) -> None:
        """Unwind the run at its next node (at once if stopped)."""
        self._abandoned = True
        self.pause()
        self._work.put(None)

    def abandon_node(self, frame: Frame) -> None:
        """Unwind within the node that the thread runs in `frame`, if it has not got further."""
        if self.top is frame and self.stop is None and not self.unwound:
            self.unwound = True
            raise_in_thread(self.native_id, Abandoned)


def _describe(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def run_in(thread: DebugThread, frame: Frame, body: Callable[[], Any]) -> Any:
    """Run `body` with `frame` as the thread's innermost frame."""
    aside = thread.debugger.listener.is_held(thread)
    thread.evaluating += aside
    thread.enter(frame)
    try:
        return body()
    finally:
        thread.leave(frame)
        thread.evaluating -= aside
