"""What the client is told unasked: the engine's listener, in DAP's words."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.server.debugpy_threads import is_suspended
from fxdap.server.env_tree import newest_value
from fxdap.server.log_groups import LogGroups
from fxdap.server.module_rows import module_row
from fxdap.view.listing_file import write_listing
from fxdap.wire.connection import Connection
from fxdap.wire.messages import (
    BreakpointEventBody,
    LoadedSourceEventBody,
    MemoryEventBody,
    ModuleEventBody,
    OutputEventBody,
    Source,
    StoppedEventBody,
    ThreadEventBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

_TITLES = {"function breakpoint": "function breakpoint", "uncaught": "exception"}


LARGE = 20_000
"""Nodes of a graph that takes so long to make ready that it is worth showing."""


class Events:
    """Sends events; the engine calls it on user threads.

    `announcing` is held while a response that creates breakpoints is on its way, so that no
    `breakpoint` event can overtake it.
    """

    session: Session

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.announcing = threading.RLock()
        self._threads: dict[int, DebugThread] = {}
        self._groups = LogGroups(lambda body: connection.send_event("output", body))

    def stopped(self, thread: DebugThread, stop: Stop) -> None:
        """A thread stopped; the program's output before it is shown first."""
        self.session.python.graph_stopped()
        _flush()
        self._groups.close()
        self.session.long_runs.stopped(thread)
        self.session.early.overtaken(thread)
        self.memory_changed(thread)
        single = len(self.session.debugger.threads()) == 1
        self.session.presenter.refresh(thread)
        if not single:
            self.session.presenter.clear()
        diagnosis = self.session.diagnoses.at_stop(thread)
        told = (stop.text, diagnosis.cause if diagnosis is not None else "")
        self._connection.send_event(
            "stopped",
            StoppedEventBody(
                reason=_TITLES.get(stop.reason, stop.reason),
                description=_description(stop),
                text="\n".join(filter(None, told)) or None,
                thread_id=thread.id,
                all_threads_stopped=single,
                hit_breakpoint_ids=list(stop.breakpoint_ids) or None,
            ),
        )
        self.session.early.landed(thread)
        thread.post(lambda: self._prepare_newest(thread))

    def _prepare_newest(self, thread: DebugThread) -> None:
        """Read the newest value while the client learns of the stop: it will ask for that."""
        if thread.top is not None:
            self.session.presenter.prepare(newest_value(thread.top))

    def resumed(self, thread: DebugThread) -> None:
        """A thread goes on."""
        self.session.python.graph_resumed()

    def memory_changed(self, thread: DebugThread) -> None:
        """Tell a client that shows memory what of it was written to."""
        if not self.session.client.supports_memory_event:
            return
        for reference, size in self.session.memory.written():
            body = MemoryEventBody(memory_reference=reference, offset=0, count=size)
            self._connection.send_event("memory", body)

    def is_held(self, thread: DebugThread) -> bool:
        """Whether Python's debugger stopped the thread."""
        return "pydevd" in sys.modules and is_suspended(thread.python_thread)

    def thread_started(self, thread: DebugThread) -> None:
        """A user thread runs its first graph."""
        self._connection.send_event(
            "thread", ThreadEventBody(reason="started", thread_id=thread.id)
        )

    def thread_ended(self, thread: DebugThread) -> None:
        """A user thread is gone."""
        self._connection.send_event("thread", ThreadEventBody(reason="exited", thread_id=thread.id))

    def preparing(self, name: str, size: int) -> AbstractContextManager[None]:
        """A graph is met for the first time: show that, if it takes long to make ready."""
        if size < LARGE:
            return nullcontext()
        return self.session.progress.show(f"Preparing {name}: {size:,} nodes", cancellable=False)

    def program_added(self, program: Program) -> None:
        """A graph is known now: write its listing and settle the breakpoints that waited."""
        workspace = self.session.workspace
        program.listing_file = write_listing(
            program.listing,
            program.name,
            Path(workspace) if workspace else None,
            self.session.listings.replaced,
        )
        self.show(program)

    def show(self, program: Program) -> None:
        """Tell of a graph whose listing is written."""
        self._connection.send_event(
            "loadedSource", LoadedSourceEventBody(reason="new", source=listing_source(program))
        )
        root = module_row(program, "", program.module)
        self._connection.send_event("module", ModuleEventBody(reason="new", module=root))

    def programs_bound(self) -> None:
        """Breakpoints were bound in a new graph: tell about those that changed."""
        with self.announcing:
            for each in self.session.breakpoints.changed():
                self._connection.send_event(
                    "breakpoint", BreakpointEventBody(reason="changed", breakpoint=each)
                )

    def logged(self, text: str, frame: Frame) -> None:
        """A log point wrote a line."""
        self._groups.enter(frame)
        program = frame.program
        self._connection.send_event(
            "output",
            OutputEventBody(
                category="console",
                output=text + "\n",
                source=listing_source(program),
                line=program.line(frame.position),
            ),
        )

    def log_ended(self, frame: Frame) -> None:
        """A run is over in which log points wrote something."""
        self._groups.left(frame)

    def noticed(self, text: str) -> None:
        """Something about the user's program that they should know."""
        self.say(text, "important")

    def told(self, text: str, file: str, line: int) -> None:
        """Something about a line of the user's source."""
        source = Source(name=os.path.basename(file), path=file)
        self._connection.send_event(
            "output",
            OutputEventBody(category="console", output=text + "\n", source=source, line=line),
        )

    def say(
        self, text: str, category: Literal["console", "important", "stderr"] = "console"
    ) -> None:
        """A line of our own in the debug console."""
        self._connection.send_event(
            "output", OutputEventBody(category=category, output=text + "\n")
        )


def listing_source(program: Program) -> Source:
    """The listing a program's nodes stand in."""
    path = program.file
    return Source(name=os.path.basename(path), path=path)


def _description(stop: Stop) -> str:
    words = {
        "entry": "Paused on entry",
        "step": "Paused on step",
        "pause": "Paused",
        "breakpoint": "Paused on breakpoint",
        "function breakpoint": "Paused on function breakpoint",
        "data breakpoint": "Paused on data breakpoint",
        "instruction breakpoint": "Paused on instruction breakpoint",
        "exception": "Paused on exception",
        "uncaught": "Paused on uncaught exception",
        "goto": "Paused after a jump",
        "restart": "Restarted",
    }
    return stop.title or words[stop.reason]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
