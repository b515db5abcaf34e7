"""The filters `nan` and `inf`: the first node whose value has one while its inputs have none."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED, Program
from fxdap.engine.watches.census import Census, count
from fxdap.engine.watches.facts import fact
from fxdap.engine.watches.found import Finding
from fxdap.engine.watches.implied import NOTHING, Implied, implied
from fxdap.engine.watches.scan import Constants, Scan, learn
from fxdap.engine.writes import find_writes
from fxdap.view.budget import Budget
from fxdap.view.summary import summarize

SHOWN_INPUTS = 4
_NAMES = {"nan": "NaN", "inf": "Inf"}
Spread = dict[int, set[str]]
"""What was found in which nodes of a run: what their users have from them is no news."""

GIVEN = -1
"""Stands for the inputs of a graph that another one runs."""


class FiniteWatch:
    """Looks for NaN, Inf or both in one program. `selected` narrows a kind to certain nodes."""

    def __init__(self, program: Program, selected: Mapping[str, Container[int] | None]) -> None:
        self._program = program
        self._selected = selected
        self._wanted = [self._kinds(index) for index in range(len(program))]
        self._scans: dict[tuple[int, int], Scan] = {}
        self._met: set[tuple[int, int]] = set()
        self.constants = Constants()

    @property
    def is_on_all(self) -> bool:
        """Whether both kinds are looked for everywhere, as a sum does."""
        return len(self._selected) == 2 and all(only is None for only in self._selected.values())

    def _kinds(self, index: int) -> frozenset[str]:
        if self._program.steps[index].op == "output":
            return frozenset()
        return frozenset(k for k, only in self._selected.items() if only is None or index in only)

    def first(
        self,
        frame: Frame,
        start: int,
        stop: int,
        written: Sequence[int],
        spread: Spread,
        recount: Callable[[], None] = lambda: None,
    ) -> list[Finding]:
        """The findings at the earliest node of a stretch. Node `start` may have `written`.

        `recount` has `spread` know what was written, under all its names.
        """
        registers = frame.registers
        written = [each for each in written if registers[each] is not registers[start]]
        if written or not self._is_clean(frame, start, stop, spread):
            found = self._look_at(frame, [start], written, spread)
            recount()
            found = found or self._look_at(frame, range(start + 1, stop), (), spread)
            if not found and not written:
                self._meet(frame, start, stop, spread)
            return found
        recount()
        return self._look_at(frame, self._scans[start, stop].exact, (), spread)

    def _is_clean(self, frame: Frame, start: int, stop: int, spread: Spread) -> bool:
        """Whether one look at a known stretch tells that nothing is to be found in it."""
        scan = self._scans.get((start, stop))
        trusted = scan is not None and not any(spread.get(each) for each in scan.trusted)
        return scan is not None and trusted and scan.is_clean(frame.registers, self.constants)

    def appeared(
        self, frame: Frame, index: int, written: Sequence[int], spread: Spread
    ) -> list[Finding]:
        """The findings at one node; `spread` has what its inputs held before it ran."""
        return self._look(frame, index, written, spread) if self._wanted[index] else []

    def _meet(self, frame: Frame, start: int, stop: int, spread: Spread) -> None:
        """Learn how to look at a stretch once it is seen to come back."""
        if (start, stop) in self._met:
            self._scans[start, stop] = self._learn(frame, start, stop, spread)
        self._met.add((start, stop))

    def _learn(self, frame: Frame, start: int, stop: int, spread: Spread) -> Scan:
        wanted = [index for index in range(start, stop) if self._wanted[index]]
        suspects = [index for index in wanted if spread.get(index)]
        skipped = NOTHING if suspects else self._implied(frame, wanted, spread)
        scan = learn(
            frame.registers,
            [index for index in wanted if index not in skipped.nodes],
            suspects,
            self._scanned_sources,
            lambda index: self._program.steps[index].op in ("placeholder", "get_attr"),
        )
        scan.trusted = skipped.trusted.union(v.source for v in scan.views if v.source < start)
        for index in scan.constants:
            self.constants.note(index, frame.registers[index])
        return scan

    def _implied(self, frame: Frame, wanted: list[int], spread: Spread) -> Implied:
        """What needs no look because others tell; only where every node is looked at."""
        span = range(wanted[0], wanted[-1] + 1) if wanted else range(0)
        if len(wanted) != len(span):
            return NOTHING
        return implied(
            self._program,
            lambda index: fact(frame.registers[index]),
            span,
            lambda index: bool(self._wanted[index]) and not spread.get(index),
        )

    def _scanned_sources(self, index: int) -> list[int]:
        """Those that a view may be of; what a node writes into was looked at before the write."""
        if index in find_writes(self._program):
            return []
        return [i for i in self._program.sources(index) if self._wanted[i]]

    def _look_at(
        self,
        frame: Frame,
        indices: Iterable[int],
        written: Sequence[int],
        spread: Spread,
    ) -> list[Finding]:
        for index in indices:
            if self._wanted[index]:
                found = self._look(frame, index, written, spread)
                if found:
                    return found
        return []

    def _look(
        self, frame: Frame, index: int, written: Sequence[int], spread: Spread
    ) -> list[Finding]:
        """One node: what is in its value, and in what it wrote to, and is not from an input."""
        value = frame.registers[index]
        if self.constants.holds(index, value):
            return []
        passed = self._passed(index, spread)
        places = {index: value} | {each: frame.registers[each] for each in written}
        found: list[Finding] = []
        for place, current in places.items():
            census = count(current)
            spread[place] = set(census.counts)
            for kind in ("inf", "nan"):
                if kind in census.counts and kind in self._wanted[index] - passed:
                    found.append(self._finding(frame, index, place, kind, census))
                    passed.add(kind)
        return found

    def _passed(self, index: int, spread: Spread) -> set[str]:
        """What is no news at a node: from its inputs, or found in the graph that it ran."""
        sources = [index, *self._program.sources(index)]
        if self._program.steps[index].op == "placeholder":
            sources.append(GIVEN)
        return set().union(*(spread.get(source, ()) for source in sources))

    def _finding(self, frame: Frame, index: int, place: int, kind: str, census: Census) -> Finding:
        nodes = self._program.nodes
        name = f"%{nodes[index].name}"
        if place != index:
            name = f"%{nodes[place].name}, which {name} wrote to,"
        text = f"{name} has {_NAMES[kind]} at {census.text(kind)}"
        lines = [text, *inputs_text(frame, [i for i in self._program.sources(index) if i != place])]
        return Finding(index, kind, "\n".join(lines))


def inputs_text(frame: Frame, sources: Sequence[int]) -> list[str]:
    """A line per input: its name, shape and range."""
    nodes, registers = frame.program.nodes, frame.registers
    budget = Budget()
    shown = [s for s in sources if registers[s] is not RELEASED][:SHOWN_INPUTS]
    lines = [f"  %{nodes[s].name}: {summarize(registers[s], budget)}" for s in shown]
    rest = len(sources) - len(shown)
    return [*lines, f"  and {rest} more"] if rest > 0 else lines
