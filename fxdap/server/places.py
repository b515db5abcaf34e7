"""Source places by number, and where targets are defined."""

from __future__ import annotations

import inspect
import os
from typing import Any

from torch.fx import Node

from fxdap.engine.program import Program
from fxdap.view.source import user_line

Place = tuple[str, int]
LIMIT = 20_000


class Places:
    """A number for each place that a client was told of; the same place keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[Place, int] = {}
        self._places: dict[int, Place] = {}

    def number(self, place: Place | None) -> int | None:
        """The number to send; None for no place."""
        if place is None:
            return None
        known = self._numbers.get(place)
        if known is None:
            if len(self._numbers) >= LIMIT:
                self._numbers.clear()
            known = self._numbers[place] = len(self._places) + 1
            self._places[known] = place
        return known

    def get(self, number: int) -> Place | None:
        """The place of a number."""
        return self._places.get(number)


def listing_place(program: Program, index: int) -> Place:
    """A node's line in the listing."""
    return program.file, program.line(index)


def source_place(node: Node) -> Place | None:
    """The line of the user's source that a node comes from."""
    where = user_line(node)
    return (where.file, where.line) if where is not None else None


def definition_place(program: Program, index: int) -> Place | None:
    """Where the Python is that a node calls; None for what is not written in Python."""
    step = program.steps[index]
    called: Any = step.target
    if step.op == "call_module":
        try:
            called = type(program.module.get_submodule(str(step.target))).forward
        except AttributeError:
            return None
    elif step.op != "call_function":
        return None
    code = getattr(inspect.unwrap(called), "__code__", None) if callable(called) else None
    if code is None or not os.path.exists(code.co_filename):
        return None
    return code.co_filename, code.co_firstlineno
