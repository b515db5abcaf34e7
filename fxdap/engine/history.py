"""What one run has changed, so that it can be undone: the run's past."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from fxdap.engine.effects import Effect
from fxdap.engine.program import RELEASED
from fxdap.engine.recorder import save_node
from fxdap.engine.stops import Phase
from fxdap.engine.undo import Restorer, Saved, SavedModes, SavedRegister

if TYPE_CHECKING:
    from fxdap.engine.breakpoints import Breakpoint
    from fxdap.engine.frame import Frame

Kind = Literal["node", "edit", "jump", "hit", "inner"]


class PastGoneError(LookupError):
    """A place that cannot be gone back to; the text says why."""


class Hit(NamedTuple):
    """What a breakpoint counted."""

    breakpoint: int
    phase: Phase
    number: int


@dataclass
class Event:
    """Something that happened when node `cursor` was to run next.

    `node`: that node ran, and wrote. `edit`: the user changed something. `jump`: the user went on
    at `landing`. `hit`: a breakpoint counted. `inner`: the user changed something in a graph that
    the node ran.
    """

    cursor: int
    kind: Kind
    saved: Sequence[Saved] = ()
    text: str = ""
    landing: int = 0
    hit: Hit | None = None
    unsaved: str = ""
    """Why it cannot be undone, if it cannot."""
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.nbytes = sum(each.nbytes for each in self.saved)


class History:
    """The events of one run in the order they happened; nodes without effects leave none.

    Belongs to the frame's thread. Moving back drops what came after: time has no branches.
    """

    def __init__(self, frame: Frame, effects: Mapping[int, Effect], limit: int) -> None:
        self._frame = frame
        self.effects = effects
        self._limit = limit
        self.events: deque[Event] = deque()
        self.nbytes = 0
        self.floor = 0
        """The earliest cursor that can be restored: what was recorded before was let go."""
        self._one: list[Saved] | None = None
        self._entry: SavedModes | None = SavedModes() if effects else None

    def record(self, index: int) -> None:
        """Node `index` is about to run: save what it writes."""
        try:
            saved, unsaved = save_node(self._frame, index, self.effects[index])
        except (RuntimeError, MemoryError) as error:
            saved, unsaved = [], f"could not be recorded: {error}"
        self.add(Event(index, "node", saved, unsaved=unsaved))

    def add(self, event: Event) -> None:
        """Something happened. Over the limit the oldest recordings go."""
        self.events.append(event)
        self.nbytes += event.nbytes
        while self.nbytes > self._limit and self.events:
            self._drop(self.events.popleft())

    def edited(self, what: str, saved: Sequence[Saved]) -> None:
        """The user is about to change something."""
        frame = self._frame
        # After an error the node has run, as far as the past is concerned.
        cursor = frame.cursor + (1 if frame.phase == "raised" else 0)
        if self._one is not None:
            self._one += saved
        else:
            self.add(Event(cursor, "edit", saved, text=what))

    @contextmanager
    def as_one(self, what: str) -> Iterator[None]:
        """All that the user changes in the `with` block is undone at once."""
        self._one = []
        try:
            yield
        finally:
            changed, self._one = self._one, None
            if changed:
                self.edited(what, changed)

    def inherit(self, inner: History) -> None:
        """A graph that the current node ran is over: keep what was changed beyond its values."""
        for event in inner.events:
            lasting = [each for each in event.saved if not isinstance(each, SavedRegister)]
            if event.kind in ("edit", "inner") and lasting:
                self.add(Event(self._frame.position, "inner", lasting, text=event.text))

    def _drop(self, event: Event) -> None:
        self.nbytes -= event.nbytes
        if event.kind != "hit":
            self.floor = max(self.floor, event.cursor + 1)

    def clear(self) -> None:
        """Let everything go."""
        self.events.clear()
        self.nbytes = 0
        self.floor = len(self._frame.program) + 1

    @property
    def last(self) -> Event | None:
        """What happened last, hits aside."""
        return next((event for event in reversed(self.events) if event.kind != "hit"), None)

    def check(self, cursor: int) -> None:
        """Raises PastGoneError if the state before node `cursor` cannot be had again."""
        frame = self._frame
        names = frame.program.nodes
        if cursor < self.floor:
            raise PastGoneError(
                f"what %{names[self.floor - 1].name} wrote over was let go: recordings are kept "
                f"within memoryBudget"
            )
        for event in reversed(self.events):
            if event.cursor < cursor:
                break
            if event.unsaved:
                raise PastGoneError(f"%{names[event.cursor].name} {event.unsaved}")
        missing = next(frame.missing(cursor), None)
        if missing is not None:
            raise PastGoneError(
                f"%{names[missing].name} is needed from there on and was released: values are kept "
                f"only within keepValues / memoryBudget"
            )

    def back_to(self, cursor: int, *, edits: bool = False) -> list[Event]:
        """Undo all since node `cursor` was to run; with `edits` what was changed there too.

        Returns what was undone, latest first.
        """
        undone = []
        while self.events and self._is_later(self.events[-1], cursor, edits):
            undone.append(self.events.pop())
            self._undo(undone[-1])
        if cursor == 0 and edits:
            self.restore_modes()
        registers, end = self._frame.registers, self._frame.cursor
        for index in range(cursor, min(end + 1, len(registers))):
            if self._frame.program.steps[index].op != "placeholder":
                registers[index] = RELEASED
        return undone

    def restore_modes(self) -> None:
        """Grad mode and the like as they were when the run began."""
        if self._entry is not None:
            self._entry.restore()

    def undo_edit(self) -> Event:
        """Undo the last event, an edit or a jump, and what counted since."""
        while True:
            event = self.events.pop()
            self._undo(event)
            if event.kind != "hit":
                return event

    def _undo(self, event: Event) -> None:
        self.nbytes -= event.nbytes
        with torch._C.DisableTorchFunction():
            for each in reversed(event.saved):
                each.restore()

    def _is_later(self, event: Event, cursor: int, edits: bool) -> bool:
        if event.cursor != cursor:
            return event.cursor > cursor
        return event.kind in ("node", "jump", "inner") or (edits and event.kind == "edit")

    def outside(self, cursor: int) -> Iterator[tuple[int, str]]:
        """The nodes that ran since `cursor` with effects that nothing undoes, latest first."""
        for event in reversed(self.events):
            if event.kind == "node" and event.cursor >= cursor:
                effect = self.effects.get(event.cursor)
                if effect is not None and effect.outside:
                    yield event.cursor, effect.outside

    def changed_since(self, cursor: int) -> bool:
        """Whether anything but values was changed since node `cursor` was to run."""
        last = self.last
        return last is not None and self._is_later(last, cursor, edits=False)

    def run_of(self, index: int) -> Event | None:
        """What was recorded when node `index` ran; None if nothing was."""
        for event in reversed(self.events):
            if event.cursor < index:
                break
            if event.kind == "node" and event.cursor == index:
                return event
        return None

    def edits_at(self, cursor: int) -> list[Event]:
        """What the user changed when node `cursor` was to run, nothing having happened since."""
        latest = takewhile(lambda event: event.cursor == cursor, reversed(self.events))
        return [event for event in latest if event.kind == "edit"]

    def was_skipped(self, index: int) -> bool:
        """Whether a jump went past node `index`."""
        return any(e.kind == "jump" and e.cursor <= index < e.landing for e in self.events)

    def count(self, breakpoint: Breakpoint) -> None:
        """A breakpoint counted an arrival here."""
        frame, number = self._frame, breakpoint.hits
        hit = Hit(breakpoint.id, frame.phase, number)

        def restore() -> None:
            breakpoint.hits = number - 1

        self.add(Event(frame.cursor, "hit", [Restorer(restore)], hit=hit))

    def counted(self, ident: int, cursor: int, phase: Phase) -> int | None:
        """The number that a breakpoint counted there; None if it did not."""
        for event in self.events:
            hit = event.hit
            if event.cursor == cursor and hit is not None and hit[:2] == (ident, phase):
                return hit.number
        return None
