"""Breakpoints: what is set, where it binds in each program, and what a hit does."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol
from zlib import crc32

from fxdap.engine.conditions import HitCondition, LogMessage
from fxdap.engine.frame import BREAKPOINT, WATCH, Frame
from fxdap.engine.names import evaluate, reads_own_value
from fxdap.engine.program import Program
from fxdap.engine.stops import Phase, Reason

if TYPE_CHECKING:
    from fxdap.engine.debugger import Debugger


class Location(Protocol):
    """Where a breakpoint is: one of the classes in `locations`."""

    reason: Reason

    @property
    def after(self) -> bool: ...

    def indices(self, program: Program) -> Sequence[int]: ...

    def describe(self, programs: Sequence[Program]) -> tuple[bool, str]:
        """Whether it binds in any of the programs, and a sentence about how."""

    def identity(self) -> str: ...


@dataclass(eq=False, kw_only=True)
class Breakpoint:
    """One breakpoint as the user set it. `id` depends on its content only."""

    id: int
    location: Location
    condition: str | None = None
    hit_condition: HitCondition | None = None
    log_message: LogMessage | None = None
    hits: int = field(default=0, compare=False)

    def runs_after(self, name: str) -> bool:
        """Whether it acts after node `name` ran: asked for, or because it reads the value."""
        if self.location.after:
            return True
        expressions = [self.condition] if self.condition is not None else []
        if self.log_message is not None:
            expressions += self.log_message.expressions
        return any(reads_own_value(text, name) for text in expressions)


@dataclass
class Hits:
    """What arriving at one place amounts to."""

    ids: tuple[int, ...] = ()
    reason: Reason = "breakpoint"
    text: str = ""

    @property
    def stops(self) -> bool:
        return bool(self.ids)


@dataclass
class _Bindings:
    """Breakpoints of one program by node index."""

    before: dict[int, list[Breakpoint]] = field(default_factory=dict)
    after: dict[int, list[Breakpoint]] = field(default_factory=dict)


class Breakpoints:
    """All breakpoints of a session, in groups that a client replaces as a whole.

    Any thread may replace a group; user threads read the bindings without a lock, since a
    program's bindings are swapped in one assignment.
    """

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._groups: dict[str, list[Breakpoint]] = {}
        self._bindings: weakref.WeakKeyDictionary[Program, _Bindings] = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()

    def all(self) -> list[Breakpoint]:
        """Every breakpoint, in the order of groups."""
        return [b for group in self._groups.values() for b in group]

    def replace(self, group: str, breakpoints: Iterable[Breakpoint]) -> None:
        """Set a group's breakpoints; counts of those that were there before go on."""
        with self._lock:
            hits = {b.id: b.hits for b in self._groups.get(group, ())}
            self._groups[group] = list(breakpoints)
            for b in self._groups[group]:
                b.hits = hits.get(b.id, 0)
            if group == "data":
                self._debugger.watches.changed()
            for program in self._debugger.programs():
                self.bind(program)

    def bind(self, program: Program) -> None:
        """Work out where the breakpoints are in `program` and flag those places."""
        with self._lock:
            bindings = _Bindings()
            for b in self.all():
                for index in b.location.indices(program):
                    after = b.runs_after(program.nodes[index].name)
                    side = bindings.after if after else bindings.before
                    side.setdefault(index, []).append(b)
            self._bindings[program] = bindings
            flags = bytearray(len(program) + 1)
            for index in bindings.before:
                flags[index] |= BREAKPOINT
            for index in bindings.after:
                flags[index + 1] |= BREAKPOINT
            for index in self._debugger.watches.places(program):
                flags[index] |= WATCH
            program.flags[:] = flags
            program.flags_version += 1
            for frame in self._debugger.frames_of(program):
                frame.refresh_flags()

    def before(self, frame: Frame, index: int) -> Hits | None:
        """Count and judge what waits before a node."""
        bindings = self._bindings.get(frame.program)
        found = bindings.before.get(index) if bindings else None
        return self._judge(found, frame) if found else None

    def after(self, frame: Frame, index: int) -> list[Breakpoint]:
        """What waits after a node; judge it with `judge` once the frame stands there."""
        bindings = self._bindings.get(frame.program)
        return bindings.after.get(index, []) if bindings else []

    def bound(self, frame: Frame, index: int, phase: Phase) -> list[Breakpoint]:
        """What is set before or after a node."""
        bindings = self._bindings.get(frame.program)
        if bindings is None:
            return []
        return (bindings.before if phase == "before" else bindings.after).get(index, [])

    def would_hit(self, found: list[Breakpoint], frame: Frame, phase: Phase) -> Hits:
        """What arriving here amounted to, or would have; nothing is counted or logged."""
        hits = Hits()
        for b in found:
            problem = None if b.log_message is not None else self._holds(b, frame)
            if problem is None or not self._counted(b, frame, phase):
                continue
            self._add(hits, b, problem)
        return hits

    def _counted(self, b: Breakpoint, frame: Frame, phase: Phase) -> bool:
        """Whether the hit condition holds for this arrival: its number as it was counted.

        An arrival before the breakpoint was set counts as if it had been set from the start.
        """
        if b.hit_condition is None:
            return True
        history = frame.history
        known = history.counted(b.id, frame.cursor, phase) if history is not None else None
        return b.hit_condition.holds(known or b.hits + self._uncounted(b, frame, phase))

    def _uncounted(self, b: Breakpoint, frame: Frame, phase: Phase) -> int:
        """Arrivals at the breakpoint's nodes up to here that it was not there to count."""
        history = frame.history
        if history is None:
            return 1
        bindings = self._bindings[frame.program]
        side, offset = (bindings.before, 0) if phase == "before" else (bindings.after, 1)
        places = [i for i, here in side.items() if b in here and i <= frame.position]
        ran = (i for i in places if not history.was_skipped(i))
        return sum(1 for i in ran if history.counted(b.id, i + offset, phase) is None)

    def judge(self, found: list[Breakpoint], frame: Frame) -> Hits:
        """Evaluate conditions, count hits and write log messages at the frame's position."""
        return self._judge(found, frame)

    def _judge(self, found: list[Breakpoint], frame: Frame) -> Hits:
        hits = Hits()
        for b in found:
            problem = self._holds(b, frame)
            if problem is None:
                continue
            self._count(b, frame)
            if b.hit_condition is not None and not b.hit_condition.holds(b.hits):
                continue
            if b.log_message is not None and not problem:
                _note_log(frame)
                self._debugger.listener.logged(b.log_message.render(frame), frame)
                continue
            self._add(hits, b, problem)
        return hits

    def _add(self, hits: Hits, b: Breakpoint, problem: str) -> None:
        hits.ids += (b.id,)
        hits.text = problem or hits.text
        if len(hits.ids) == 1 or b.location.reason == "breakpoint":
            hits.reason = b.location.reason

    def _count(self, b: Breakpoint, frame: Frame) -> None:
        b.hits += 1
        if frame.history is not None:
            frame.history.count(b)

    def _holds(self, b: Breakpoint, frame: Frame) -> str | None:
        """None: does not hold. "": holds. Text: the condition raised, so stop and say why."""
        if b.condition is None:
            return ""
        try:
            return "" if evaluate(b.condition, frame) else None
        except Exception as error:
            return f"condition {b.condition!r} raised {type(error).__name__}: {error}"


def _note_log(frame: Frame) -> None:
    each: Frame | None = frame
    while each is not None:
        each.has_logged = True
        each = each.parent


Kind = Literal["source", "function", "data", "instruction"]


def stable_id(kind: Kind, identity: str, taken: set[int]) -> int:
    """An id that the same breakpoint gets again in every session; distinct within `taken`."""
    value = crc32(f"{kind}:{identity}".encode()) & 0x3FFFFFFF
    while value in taken or value == 0:
        value += 1
    taken.add(value)
    return value
