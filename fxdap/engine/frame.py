"""One run of a program: its registers, its position, and what waits in it."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

from fxdap.engine.execute import fetch
from fxdap.engine.program import RELEASED, SKIPPED, Program, Released
from fxdap.engine.stops import Phase
from fxdap.engine.undo import Saved, SavedRegister

if TYPE_CHECKING:
    from fxdap.engine.history import History
    from fxdap.engine.thread import DebugThread
    from fxdap.engine.watches.watcher import Watcher

BREAKPOINT, STEP, PAUSE, WATCH, UNSET = 1, 2, 4, 8, 16
"""Bits of a frame's flags: something of this kind waits before that node (`UNSET`: it reads a
value that a jump left unset)."""

_PAUSE_ALL = bytes(flags | PAUSE for flags in range(256))
_PAUSE_NONE = bytes(flags & ~PAUSE for flags in range(256))
_NO_BREAKPOINT = bytes(flags & ~(BREAKPOINT | WATCH) for flags in range(256))
_flags_lock = threading.Lock()


class ValueUnavailableError(LookupError):
    """A node's value is asked for that has not been computed, or was released."""


class Frame:
    """A graph that is being run by one thread.

    `registers[i]` is the value of node `i` once `i` has run. Only the owning thread writes
    registers and position. Bits of `flags` are changed under a lock by any thread (a step's landing
    by its own, breakpoints and pauses by the server's) and read without one.

    Who runs the nodes is a matter of the kinds of frames: `ProgramFrame` and `InterpreterFrame`.
    """

    def __init__(self, program: Program, thread: DebugThread, parent: Frame | None) -> None:
        self.program = program
        self.thread = thread
        self.parent = parent
        # Read in this order: flags that change in between are then taken over by refresh_flags.
        self.flags_version = program.flags_version
        self._store = program.take_store()
        self.registers, self.flags = self._store
        self.position = 0
        self.phase: Phase = "before"
        self.interpreter: torch.fx.Interpreter | None = None
        self.kept_bytes = 0
        debugger = thread.debugger
        watches = debugger.watches
        self.watcher: Watcher | None = None
        # Read in this order, too: a change in between makes the version another.
        version = watches.version
        self._watched_since = version if watches.found_active is False else -1
        self.has_logged = False
        """Whether a log point wrote something in it, or in a graph that it runs."""
        self.call = 1
        """Which call of this graph it is: of the calling node, or of a graph torch derived."""
        self._calls: dict[Program, int] = {}
        self._calling = -1
        self.history: History | None = (
            debugger.new_history(self) if debugger.options.time_travel else None
        )
        """The run's past; None without time travel."""

    @property
    def node(self) -> Node:
        """The node about to run, or the one that just ran or raised (see `phase`)."""
        return self.program.nodes[self.position]

    @property
    def cursor(self) -> int:
        """Index of the node to run next: those before it have run."""
        return self.position + (1 if self.phase == "after" else 0)

    def inputs(self) -> list[Any]:
        """What the placeholders have."""
        return [self.registers[index] for index in self.program.placeholders]

    def computed(self) -> Iterator[int]:
        """Indices of the nodes that have a value to show, in execution order."""
        return (i for i in range(self.cursor) if not isinstance(self.registers[i], Released))

    def value(self, index: int) -> Any:
        """Return node `index`'s value; ValueUnavailableError says why there is none."""
        name = self.program.nodes[index].name
        if index > self.position or (index == self.position and self.phase != "after"):
            raise ValueUnavailableError(f"%{name} has not run yet")
        value = self.registers[index]
        if value is SKIPPED:
            raise ValueUnavailableError(f"%{name} is unset: a jump went past it")
        if value is RELEASED:
            raise ValueUnavailableError(
                f"%{name} was released: no later node reads it and values are kept only within "
                f"keepValues / memoryBudget"
            )
        return value

    def set_value(self, index: int, value: Any) -> None:
        """Replace a computed node's value; later nodes read the new one."""
        if self.registers[index] is not SKIPPED or index >= self.cursor:
            self.value(index)
        self.check_change(index)
        name = self.program.nodes[index].name
        self.note_edit(f"the change of %{name}", SavedRegister(self, index, self.registers[index]))
        self.put(index, value)

    def check_change(self, index: int) -> None:
        """Raises ValueUnavailableError if later nodes would not read another value of a node."""

    def note_edit(self, what: str, saved: Saved) -> None:
        """The user is about to change something, or has; `saved` undoes it."""
        self.thread.changed.append(saved)
        if self.history is not None:
            self.history.edited(what, [saved])

    def put(self, index: int, value: Any) -> None:
        """Give a node another value; nothing is recorded."""
        self.registers[index] = value

    def missing(self, cursor: int) -> Iterator[int]:
        """Values that nodes from `cursor` on read and that were let go since they were made."""
        readers = self.program.last_readers
        for index in range(min(cursor, self.cursor)):
            if self.registers[index] is RELEASED and readers[index] >= cursor:
                yield index

    @property
    def runs_users_interpreter(self) -> bool:
        """Whether the nodes are run by an Interpreter that the user has written."""
        return type(self.interpreter) not in (type(None), torch.fx.Interpreter)

    @property
    def outside(self) -> str:
        """What going back leaves as it is, whatever nodes it undoes; "" if nothing."""
        return ""

    def check_travel(self, cursor: int) -> None:
        """Raises PastGoneError if the run cannot go on from node `cursor`, whatever its values."""

    def was_skipped(self, index: int) -> bool:
        """Whether the user went past node `index` with a jump."""
        return self.history is not None and self.history.was_skipped(index)

    def argument(self, value: Any) -> Any:
        """Return one of the current node's arguments with values in place of nodes."""
        return fetch(value, self.program, self.registers)

    def landing(self, index: int) -> int:
        """Where a step to node `index` can land."""
        return index

    def locate(self) -> None:
        """Find out which node is running, from inside of what it calls."""

    def index_in(self, python: FrameType | None) -> int:
        """The node that runs now, told by the thread's Python stack; for other threads to ask."""
        return self.position

    def mark(self, index: int) -> None:
        """A step is to land before node `index`."""
        with _flags_lock:
            self.flags[index] |= STEP

    def unmark(self, index: int) -> None:
        """No step lands there any more."""
        with _flags_lock:
            self.flags[index] &= ~STEP

    def pause(self) -> None:
        """Stop before the next node of this frame."""
        with _flags_lock:
            self.flags[:] = self.flags.translate(_PAUSE_ALL)

    def unpause(self) -> None:
        """Do not stop for a pause any more."""
        with _flags_lock:
            self.flags[:] = self.flags.translate(_PAUSE_NONE)

    def clear_flags(self) -> None:
        """Stop nowhere any more."""
        with _flags_lock:
            self.flags[:] = bytes(len(self.flags))

    def refresh_flags(self) -> None:
        """Take over breakpoints that moved since the frame was made."""
        with _flags_lock:
            self.flags_version = self.program.flags_version
            kept = self.flags.translate(_NO_BREAKPOINT)
            fresh = self.program.flags
            self.flags[:] = bytes(k | f for k, f in zip(kept, fresh, strict=True))

    def count_call(self, program: Program, index: int) -> int:
        """Node `index`, which is running, calls `program`: return how often it has by now."""
        if self._calling != index:
            self.forget_calls()
            self._calling = index
        count = self._calls[program] = self._calls.get(program, 0) + 1
        return count

    def forget_calls(self) -> None:
        """The current node begins anew: the next call of a graph is its first."""
        self._calls.clear()
        self._calling = -1

    def forget_past(self) -> None:
        """Let go of what was recorded."""
        if self.history is not None:
            self.history.clear()

    def watched(self, start: int) -> Watcher | None:
        """Who looks at the values from node `start` on; what is watched may have changed."""
        watches = self.thread.debugger.watches
        if self._watched_since != watches.version:
            self._watched_since = watches.version
            self.watcher = watches.watcher(self, start) if watches.active else None
        return self.watcher

    def release_dead(self, index: int) -> None:
        """Let go of the values that nothing reads after node `index`."""
        for dead in self.program.last_uses[index]:
            self.registers[dead] = RELEASED

    def _save(self, index: int) -> None:
        if self.history is not None:
            self.history.record(index)

    @property
    def _recorded(self) -> Container[int]:
        return self.history.effects if self.history is not None else ()

    def flag_unset(self) -> None:
        """Find the nodes to come that read a value which a jump left unset."""
        unset = {i for i in range(self.cursor) if self.registers[i] is SKIPPED}
        with _flags_lock:
            for index in range(self.cursor, len(self.program)):
                if any(self.program.index[n] in unset for n in self._inputs(index)):
                    self.flags[index] |= UNSET

    def _inputs(self, index: int) -> list[Node]:
        return self.program.nodes[index].all_input_nodes
