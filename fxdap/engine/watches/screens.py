"""Stretches whose values are looked at as they are made, so that none has to wait for it.

Large values that wait for a look take memory that no cache holds. A screened stretch sums each of
them at once, and lets go of it where `forward` would. If a sum is not finite the values are gone:
the stretch is run again from its start, node by node, with a look after each.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from fxdap.engine.codegen import SPRINT_LENGTH, Segment, SegmentWriter
from fxdap.engine.program import RELEASED, SLOW_RUNS, Program
from fxdap.engine.watches.census import screened
from fxdap.engine.watches.facts import ANYTHING, FLOATS, NUMBERLESS, Fact, fact
from fxdap.engine.watches.fresh import fresh_writes
from fxdap.engine.watches.implied import implied
from fxdap.engine.watches.scan import SMALL, Constants, are_numberless, is_transformed, numbers
from fxdap.view.quiet import quiet

LIMIT_S = 0.02
"""Seconds that a stretch may compute: so long a pause may go unheard."""

SMALL_LIMIT = 16
"""Small values up to which a sum for each costs less than to have them wait and stack them."""

DOUBTS = 2
"""Times that a stretch may be run again for nothing, such as for a sum that overflows."""


class Doubt(Exception):
    """A value is not of the kind that it was."""


@dataclass
class Screen:
    """One such stretch."""

    span: range
    code: Segment
    constants: list[int]
    numberless: list[int]
    """What the kinds of its values depend on and cannot be NaN or Inf, as when it was learned."""
    doubts: int = 0
    slow: int = 0

    def took(self, seconds: float) -> None:
        """It computed so long."""
        self.slow = self.slow + 1 if seconds > LIMIT_S else 0

    @property
    def next_length(self) -> int:
        """How many nodes it is to have from now on: fewer if it always takes long, none if it is
        run again and again for nothing.
        """
        if self.doubts >= DOUBTS:
            return 0
        return max(len(self.span) // 2, 1) if self.slow >= SLOW_RUNS else len(self.span)

    def is_as_learned(self, registers: list[Any]) -> bool:
        """Whether its values are of the kinds that they were."""
        with quiet():
            return are_numberless(registers, self.numberless)

    def is_clean(self, registers: list[Any], sums: Iterable[Any], known: Constants) -> bool:
        """Whether everything in the stretch is finite, by the sums that its code gave."""
        try:
            with quiet():
                return all(known.renew(i, registers[i]) for i in self.constants) and all(
                    math.isfinite(total) for total in numbers(list(sums))
                )
        except (RuntimeError, TypeError, NotImplementedError):
            return False  # the values have other types than those it was learned from


class Screens:
    """The screened stretches of one program, learned from what its nodes gave before."""

    def __init__(self, program: Program, one_time: Container[int]) -> None:
        self._program = program
        self._one_time = one_time
        self._facts: dict[int, Fact] = {}
        self._noted: set[int] = set()
        self._found: dict[tuple[int, bool], Screen | None] = {}
        self._lengths: dict[int, int] = {}
        self._fresh: dict[int, int] | None = None

    def note(self, registers: list[Any], start: int, stop: int) -> None:
        """Learn from the values of a stretch that has just run."""
        if start not in self._noted:
            self._noted.add(start)
            with quiet():
                self._facts |= {i: fact(registers[i]) for i in range(start, stop)}
            self._found.clear()

    def at(self, start: int, recorded: Container[int], *, keep: bool) -> Screen | None:
        """The stretch that begins with node `start`, if one can."""
        known = self._found.get((start, keep))
        if known is not None and known.next_length != len(known.span):
            self._lengths[start] = known.next_length
            del self._found[start, keep]
        if (start, keep) not in self._found:
            self._found[start, keep] = self._make(self._span(start, recorded), keep)
        return self._found[start, keep]

    def forget(self) -> None:
        """Nodes give values of other kinds now: learn anew."""
        self._facts.clear()
        self._noted.clear()
        self._found.clear()

    def _span(self, start: int, recorded: Container[int]) -> range:
        """As many nodes as can be run again together."""
        length = self._lengths.get(start, SPRINT_LENGTH)
        stop = start
        for index in range(start, min(start + length, len(self._program))):
            if not self._may_rerun(index, start, recorded):
                break
            stop = index + 1
        maker = (self._fresh or {}).get(stop, -1)
        return range(start, maker if start < maker < stop else stop)

    def _may_rerun(self, index: int, start: int, recorded: Container[int]) -> bool:
        if index in recorded or index not in self._facts:
            return False
        if self._fresh is None:
            self._fresh = fresh_writes(self._program)
        return index not in self._one_time or self._fresh.get(index, -1) >= start

    def _make(self, span: range, keep: bool) -> Screen | None:
        if not span:
            return None
        wanted = self._wanted(span)
        if wanted is None:
            return None
        constants = [i for i in wanted if self._program.steps[i].op == "get_attr"]
        looked_at = [i for i in wanted if self._program.steps[i].op != "get_attr"]
        code = SegmentWriter(
            self._program,
            RELEASED,
            span,
            keep=keep,
            checked=False,
            looked_at=frozenset(looked_at),
            look=look,
        ).compile(self._program.file)
        return Screen(span, code, constants, self._numberless(span))

    def _numberless(self, span: range) -> list[int]:
        """What a stretch is given that holds no numbers: the rest of it follows."""
        given = {i for i in span if self._program.steps[i].op in ("placeholder", "get_attr")}
        given |= {source for i in span for source in self._program.sources(i) if source not in span}
        return sorted(i for i in given if self._fact(i).kind is NUMBERLESS)

    def _wanted(self, span: range) -> list[int] | None:
        """The values of a stretch to look at; None if that cannot be done on the way."""
        known = implied(self._program, self._fact, span, lambda index: True, self._written(span))
        wanted = [i for i in span if self._is_open(i) and i not in known.nodes]
        small = sum(self._fact(i).size <= SMALL for i in wanted)
        others = any(self._fact(i).kind is not FLOATS for i in wanted)
        return None if others or small > SMALL_LIMIT else wanted

    def _is_open(self, index: int) -> bool:
        is_output = self._program.steps[index].op == "output"
        return not is_output and self._fact(index).kind is not NUMBERLESS

    def _fact(self, index: int) -> Fact:
        return self._facts.get(index, Fact(ANYTHING))

    def _written(self, span: range) -> set[int]:
        """The nodes of a stretch whose values are written to later in it."""
        makers = {i: maker for i, maker in (self._fresh or {}).items() if i in span}
        last = {maker: max(i for i in makers if makers[i] == maker) for maker in makers.values()}
        return {*last, *(i for i, maker in makers.items() if i < last[maker])}


def look(value: Any) -> torch.Tensor:
    """A sum that is finite only if the value is. Doubt is raised for what hides its elements."""
    if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
        raise Doubt
    return screened(value.detach() if value.requires_grad else value)


def can_look() -> bool:
    """Whether nobody but torch itself would see a sum made now, or change what it is."""
    return not torch._C._len_torch_function_stack() and not is_transformed()
