"""The debugger of one process: its programs, threads, breakpoints and options."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch.fx import Graph

from fxdap.engine.breakpoints import Breakpoints
from fxdap.engine.collector import WORTH_TELLING, expect_kept
from fxdap.engine.effects import find_effects
from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.frame import Frame
from fxdap.engine.frameless import frameless
from fxdap.engine.history import History
from fxdap.engine.plan import Plan
from fxdap.engine.program import Program
from fxdap.engine.program_frame import ProgramFrame
from fxdap.engine.retention import Retention
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread, run_in
from fxdap.engine.watches.watches import Watches
from fxdap.view.nested import nested_graphs

PROGRAM_LIMIT = 256
"""Programs remembered at once; a training loop that keeps tracing new graphs must not leak."""


@dataclass
class Options:
    """Launch options the engine heeds."""

    stop_on_entry: bool = True
    keep_values: bool = True
    just_my_code: bool = True
    verify_interpreter: bool = False
    time_travel: bool = True
    script: str = ""
    """Begins the names of graphs that a script runs."""


class Key(NamedTuple):
    """What a program is known by. A graph nested in two others is listed in each of them."""

    root: int
    """Identity of the program it is nested in; 0 for a graph that is run by itself."""
    module: int
    graph: int


MakeProgram = Callable[[torch.nn.Module, Graph, str], Program]
Elsewhere = Callable[[], "Program | None"]


class Listener(Protocol):
    """Who is told what happens. Called on user threads; must not block on them."""

    def stopped(self, thread: DebugThread, stop: Stop) -> None: ...
    def resumed(self, thread: DebugThread) -> None: ...
    def thread_started(self, thread: DebugThread) -> None: ...
    def thread_ended(self, thread: DebugThread) -> None: ...
    def preparing(self, name: str, size: int) -> AbstractContextManager[None]:
        """Within this a graph of `size` nodes is made ready, which takes long if there are many."""
        ...

    def program_added(self, program: Program) -> None: ...
    def programs_bound(self) -> None: ...
    def logged(self, text: str, frame: Frame) -> None: ...
    def log_ended(self, frame: Frame) -> None: ...
    def noticed(self, text: str) -> None: ...
    def is_held(self, thread: DebugThread) -> bool:
        """Whether another debugger stopped the thread, and what it runs is an evaluation there."""
        ...

    def told(self, text: str, file: str, line: int) -> None: ...


class Debugger:
    """Everything that a session needs to know of the user's graphs.

    Programs and threads are added by user threads and read by the server thread, under `lock`.
    """

    def __init__(self, listener: Listener, options: Options | None = None) -> None:
        self.listener = listener
        self.options = options or Options()
        self.breakpoints = Breakpoints(self)
        self.exceptions = ExceptionFilters()
        self.watches = Watches(self)
        self.retention = Retention()
        self.lock = threading.RLock()
        self._preparing = threading.RLock()
        self._programs: OrderedDict[Key, tuple[object, Program]] = OrderedDict()
        self._nested: dict[tuple[int, int], Key] = {}
        self.known_threads: dict[int, DebugThread] = {}
        """By the identity that the system gave them."""
        self._names: dict[str, int] = {}
        self._here = threading.local()
        self.entry_pending = self.options.stop_on_entry
        """Whether the next graph that begins is the one to stop on entry of."""
        self.pause_pending = False
        """Whether the next graph that begins is to be paused, whichever thread runs it."""
        self.ended = False
        self._abandoned = False
        self._next_thread = 1
        self._stops = 0

    def take_entry(self) -> bool:
        """Whether the graph that begins now is the one to stop on entry of."""
        pending, self.entry_pending = self.entry_pending, False
        return pending

    def take_pause(self) -> bool:
        """Whether the graph that begins now is to be paused."""
        pending, self.pause_pending = self.pause_pending, False
        return pending

    def next_stop(self) -> int:
        """Number of a stop, so that the latest is known."""
        self._stops += 1
        return self._stops

    def programs(self) -> list[Program]:
        """Every program seen, nested ones included, oldest first."""
        with self.lock:
            return [program for _, program in self._programs.values()]

    def threads(self) -> list[DebugThread]:
        """Threads that have run a graph."""
        with self.lock:
            return list(self.known_threads.values())

    def thread(self, ident: int) -> DebugThread | None:
        """The thread with this DAP id."""
        return next((t for t in self.threads() if t.id == ident), None)

    def has_given_out(self, ident: int) -> bool:
        """Whether a DAP id is or was some thread's; the first may be listed before any has it."""
        return 0 < ident < max(self._next_thread, 2)

    def frames_of(self, program: Program) -> list[Frame]:
        """Runs of `program` that are on some thread's stack now."""
        return [f for t in self.threads() for f in list(t.frames) if f.program is program]

    def current_thread(self) -> DebugThread:
        """The calling thread as the debugger sees it; made when first met."""
        thread: DebugThread | None = getattr(self._here, "thread", None)
        return self._meet_thread() if thread is None else thread

    def running_thread(self) -> DebugThread | None:
        """The calling thread if it is running a graph now."""
        thread: DebugThread | None = getattr(self._here, "thread", None)
        return thread if thread is not None and thread.frames else None

    def _meet_thread(self) -> DebugThread:
        """Native threads may lose what is local to them each time they leave Python."""
        native = threading.get_ident()
        thread = self.known_threads.get(native)
        if thread is None or not thread.is_current():
            thread = self._add_thread(native)
        self._here.thread = thread
        return thread

    def _add_thread(self, native: int) -> DebugThread:
        self.forget_ended_threads()
        with self.lock:
            name = threading.current_thread().name.replace("Dummy-", "native thread ")
            thread = DebugThread(self, self._next_thread, name)
            self._next_thread += 1
            self.known_threads[native] = thread
        if self._abandoned:
            thread.abandon()
        self.listener.thread_started(thread)
        return thread

    def abandon(self) -> None:
        """Unwind the graphs that all threads run, those that have run none yet included."""
        self._abandoned = True
        for thread in self.threads():
            thread.abandon()

    def take_step_of_other(self, thread: DebugThread) -> Plan | None:
        """The step that left its graph on a thread which autograd's now works for, or the reverse.

        A backward on another device runs on a native thread, while the one that called it waits.
        """
        with self.lock:
            for other in self.known_threads.values():
                plan = other.plan
                waits = plan is not None and plan.frame is None and not other.frames
                if waits and other is not thread and (thread.is_native or other.is_native):
                    other.plan = None
                    return plan
        return None

    def forget_ended_threads(self) -> None:
        """Drop threads that are over, and tell the listener."""
        with self.lock:
            over = [native for native, thread in self.known_threads.items() if thread.has_ended()]
            ended = [self.known_threads.pop(native) for native in over]
        for thread in ended:
            self.listener.thread_ended(thread)

    def program_for(
        self,
        module: torch.nn.Module,
        graph: Graph,
        version: object,
        name: str,
        make: MakeProgram = Program,
        elsewhere: Elsewhere | None = None,
    ) -> Program:
        """The program of a graph; a new one, by `make`, when the graph changed.

        `version` is an object that stays the same while the graph does, such as a GraphModule's
        compiled forward; None if there is none, then the graph itself is compared. A thread that
        meets a graph which another is still preparing waits, or it would run past breakpoints.
        `elsewhere` is asked for what is not nested in the graph that calls it.
        """
        with self._preparing:
            alone = Key(0, id(module), id(graph))
            found = self._current(alone._replace(root=self.calling_root()), version)
            if found is None and elsewhere is not None:
                found = elsewhere()
            if found is None:
                found = self._current(alone, version)
            return found or self._add_program(alone, module, graph, version, name, make)

    def _current(self, key: Key, version: object) -> Program | None:
        known = self._programs.get(key)
        if known is None:
            return None
        if version is not None and known[0] is version:
            return known[1]
        if known[1].is_current():
            self._programs[key] = (version or known[0], known[1])
            return known[1]
        return None

    def nested_program(self, module: torch.nn.Module, graph: Graph) -> Program | None:
        """The program of a graph that is nested in another, whoever calls it."""
        key = self._nested.get((id(module), id(graph)))
        known = self._programs.get(key) if key is not None else None
        return known[1] if known is not None and known[0] is forward_of(module) else None

    def derived_program(
        self, module: torch.nn.Module, graph: Graph, origin: Program, *, stands_in: bool
    ) -> Program:
        """The program of a graph that torch made of a body; it replaces the last of that name.

        torch makes one for each call: like runs of one graph, they share a name and a listing.
        """
        alone = Key(0, id(module), id(graph))
        known = self._current(alone, forward_of(module))
        if known is not None:
            return known
        name = f"{origin.name}.{origin.path}.{'forward' if stands_in else 'backward'}"
        with self.lock:
            for key in [k for k, (_, p) in self._programs.items() if p.root.name == name]:
                del self._programs[key]
            self._names[name] = 0

        def make(module: torch.nn.Module, graph: Graph, name: str) -> Program:
            program = Program(module, graph, name)
            program.origin, program.stands_in = origin, stands_in
            return program

        return self._add_program(alone, module, graph, forward_of(module), name, make)

    def calling_root(self) -> int:
        """Identity of the program in whose listing a graph that begins now may be nested."""
        thread: DebugThread | None = getattr(self._here, "thread", None)
        return id(thread.frames[-1].program.root) if thread is not None and thread.frames else 0

    def _add_program(
        self,
        key: Key,
        module: torch.nn.Module,
        graph: Graph,
        version: object,
        name: str,
        make: MakeProgram,
    ) -> Program:
        with self.listener.preparing(name, len(graph.nodes)):
            with self.lock:
                program = make(module, graph, self._unique(name))
                self._remember(key, version, program)
            self.listener.program_added(program)
            for added in [program, *(p for p in self.programs() if p.parent is program)]:
                self.breakpoints.bind(added)
            self.listener.programs_bound()
        return program

    def _remember(self, key: Key, version: object, program: Program) -> None:
        self._programs[key] = (version, program)
        while len(self._programs) > PROGRAM_LIMIT:
            self._programs.popitem(last=False)
        for inner in nested_graphs(program.module, program.graph):
            nested = Program(
                inner.module,
                inner.graph,
                program.name,
                parent=program,
                path=inner.path,
                user=inner.user,
            )
            inner_key = Key(id(program), id(inner.module), id(inner.graph))
            self._programs[inner_key] = (forward_of(inner.module), nested)
            self._nested[id(inner.module), id(inner.graph)] = inner_key
        if len(self._nested) > 2 * PROGRAM_LIMIT:
            self._nested = {k: v for k, v in self._nested.items() if v in self._programs}

    def _unique(self, name: str) -> str:
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"

    def new_history(self, frame: Frame) -> History | None:
        """The past of a run that begins, with time travel; None once the session has ended."""
        if self.ended:
            return None
        limit = self.retention.recordings_limit(keep=self.options.keep_values)
        return History(frame, find_effects(frame.program), limit)

    def run_program(self, program: Program, inputs: Iterable[Any]) -> Any:
        """Run a program on the calling thread with its placeholders' values, in order."""
        thread = self.current_thread()
        caller = thread.frames[-1] if thread.frames else None
        if program.parent is not None and caller is not None:
            body = frameless(thread, program)
            if body is not None:
                return body.run(thread, list(inputs))
        frame = ProgramFrame(program, thread, caller)
        _take_inputs(frame, inputs)
        kept = len(program) if self.options.keep_values else 0
        if kept >= WORTH_TELLING:
            expect_kept(kept)
        try:
            result = run_in(thread, frame, frame.run)
            frame.end()
            return result
        finally:
            if kept >= WORTH_TELLING:
                expect_kept(-kept)

    def filter_exceptions(self, filters: ExceptionFilters) -> None:
        """Stop at these from now on, in graphs that are running too."""
        self.exceptions = filters
        self.watches.changed()
        for program in self.programs():
            self.breakpoints.bind(program)

    def end(self) -> None:
        """Let go of every program and thread; stopped threads go on without a debugger."""
        with self.lock:
            self.ended = True
            self.entry_pending = False
            threads = self.threads()
            self._programs.clear()
            self._nested.clear()
            self.known_threads.clear()
        for thread in threads:
            thread.detach()


def _take_inputs(frame: Frame, inputs: Iterable[Any]) -> None:
    """In a function of its own, so that only the registers hold the values afterwards."""
    for index, value in zip(frame.program.placeholders, inputs, strict=True):
        frame.registers[index] = value


def forward_of(module: torch.nn.Module) -> object:
    """What changes when a GraphModule is recompiled: its class's forward function."""
    return type(module).__dict__.get("forward")
