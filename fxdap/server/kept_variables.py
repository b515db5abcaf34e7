"""Rows of nodes' values as the client was given them, for tensors that are still the same."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from fxdap.server.variables_tree import Item
from fxdap.wire.messages import Variable

LIMIT = 5000
"""Rows kept at once."""


class _Kept(NamedTuple):
    tensor: weakref.ref[torch.Tensor]
    version: int
    facts: tuple[Any, ...]
    variable: Variable


class KeptVariables:
    """One row for each place of the tree that showed a tensor; holds no tensor alive.

    At a stop a client asks for all rows on the screen again, and nearly all are as they were.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[int, str], _Kept] = {}

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()

    def get(self, parent: int, item: Item, expression: str | None) -> Variable | None:
        """The row of an item below the row `parent`, if its tensor has not changed since."""
        kept = self._rows.get((parent, item.name))
        if kept is None or kept.tensor() is not item.value:
            return None
        same = kept.version == version(item.value) and kept.facts == _facts(item, expression)
        return kept.variable if same else None

    def keep(self, parent: int, item: Item, expression: str | None, variable: Variable) -> None:
        """Keep the row of a node's value, if it can be told whether that has changed.

        What is inside of a value is made anew each time that it is opened.
        """
        now = version(item.value)
        if now is None or item.declared is None:
            return
        if len(self._rows) >= LIMIT:
            self._rows.clear()
        kept = _Kept(weakref.ref(item.value), now, _facts(item, expression), variable)
        self._rows[parent, item.name] = kept


def _facts(item: Item, expression: str | None) -> tuple[Any, ...]:
    """All that a row says besides the value."""
    return expression, item.accessor, item.note, item.declared, item.origin, item.left_open


def version(value: Any) -> int | None:
    """What changes when a tensor is written to; None where that cannot be told."""
    if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
        return None
    tensor: torch.Tensor = value
    return None if tensor.is_inference() else tensor._version
