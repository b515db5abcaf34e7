"""What the watches have to say of nodes that ran already, for going back to one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.frame import Frame
from fxdap.engine.history import Event
from fxdap.engine.program import Released
from fxdap.engine.undo import SavedTensor
from fxdap.engine.watches.arguments import Arguments, declared, recorded_versions
from fxdap.engine.watches.census import count
from fxdap.engine.watches.finite import GIVEN, FiniteWatch, Spread
from fxdap.engine.watches.found import Finding
from fxdap.engine.watches.recorded import Bindings
from fxdap.engine.watches.watcher import ProgramWatch

Shown = tuple[list[Finding], list[Breakpoint]]
"""What a node shows, and the data breakpoints that its writes hit."""


class PastWatch:
    """Looks at the nodes of one run that is being taken back, latest first.

    A node is asked about when everything after it that changed more than values is undone.
    """

    def __init__(self, watch: ProgramWatch, frame: Frame) -> None:
        self._watch = watch
        self._frame = frame

    def after(self, index: int) -> Shown:
        """What there is to say of node `index`, as if it had just run."""
        frame, watch = self._frame, self._watch
        event = frame.history.run_of(index) if frame.history is not None else None
        found = list(self._unlike_metadata.get(index, ()))
        hit: list[Breakpoint] = []
        written: list[int] = []
        if event is not None:
            before = recorded_versions(event.saved)
            arguments = Arguments(frame, index, declared(frame.program, index), before)
            written = arguments.written_places()
            if watch.in_place is not None:
                found += watch.in_place.first(frame, arguments)
            if watch.data is not None:
                hit = watch.data.hit(frame, arguments)
        if watch.finite is not None:
            found = self._not_finite(watch.finite, index, written, event) + found
        return found, hit

    def edits(self, cursor: int) -> list[Breakpoint]:
        """The data breakpoints that the user's changes before node `cursor` hit."""
        history, data = self._frame.history, self._watch.data
        if history is None or data is None:
            return []
        saved = [each for event in history.edits_at(cursor) for each in event.saved]
        return data.edited(self._frame, saved) if saved else []

    def _not_finite(
        self, watch: FiniteWatch, index: int, written: Sequence[int], event: Event | None
    ) -> list[Finding]:
        registers = self._frame.registers
        places = [index, *(p for p in written if registers[p] is not registers[index])]
        if not any(self._kinds(place) for place in places):
            return []
        with _as_before(event):
            spread: Spread = {source: self._kinds(source) for source in self._inputs(index)}
        spread[GIVEN] = self._given()
        return watch.appeared(self._frame, index, places[1:], spread)

    def _kinds(self, place: int) -> set[str]:
        value = self._frame.registers[place]
        return set() if isinstance(value, Released) else set(count(value).counts)

    def _inputs(self, index: int) -> list[int]:
        program = self._frame.program
        return [program.index[node] for node in program.nodes[index].all_input_nodes]

    def _given(self) -> set[str]:
        """What is in the inputs of a graph that another one runs."""
        caller = self._frame.parent
        if caller is None:
            return set()
        values = (caller.registers[caller.program.index[n]] for n in caller.node.all_input_nodes)
        return {kind for value in values for kind in count(value).counts}

    @cached_property
    def _unlike_metadata(self) -> dict[int, list[Finding]]:
        """By node, for the whole run: sizes that the metadata leaves open are told by its start."""
        meta, frame = self._watch.meta, self._frame
        found: dict[int, list[Finding]] = {}
        bindings, wrong = Bindings(), set[int]()
        for index in frame.computed() if meta is not None else ():
            if meta is not None and (said := meta.first(frame, index, index + 1, bindings, wrong)):
                found[index] = said
        return found


@contextmanager
def _as_before(event: Event | None) -> Iterator[None]:
    """With the elements that the node's arguments had before it ran."""
    saved = [each for each in event.saved if isinstance(each, SavedTensor)] if event else []
    for each in saved:
        each.swap()
    try:
        yield
    finally:
        for each in reversed(saved):
            each.swap()
