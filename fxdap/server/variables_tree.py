"""The nodes of the variables tree, before they are numbered and formatted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from fxdap.engine.frame import Frame
from fxdap.view.children import Child, children, count_children, indexed_children
from fxdap.view.symbols import Open, part


class Item(Struct, frozen=True):
    """One row: a value with its name, or a group (`branch`) without a value.

    A page has a hundred of them at every stop, so it is of the kind that is made fastest.
    """

    name: str
    value: Any = None
    accessor: str | None = None
    branch: Branch | None = None
    text: str | None = None
    type: str | None = None
    kind: str | None = None
    lazy: Callable[[], Any] | None = None
    line: int | None = None
    declared: tuple[str, int] | None = None
    """File and line of the node whose value it is."""
    origin: tuple[str, int] | None = None
    """File and line that the value comes from."""
    note: str = ""
    """What is to be said after the value."""
    left_open: Open | None = None
    """What the metadata of the node that gave the value leaves open."""


class Branch:
    """Something that can be expanded. `frame` is the run it was shown in."""

    frame: Frame | None = None

    @property
    def indexed(self) -> int:
        """How many indexed children it has."""
        return 0

    @property
    def named(self) -> int | None:
        """How many named children it has, where that is cheap to know."""
        return None

    def items(self) -> list[Item]:
        """The named children."""
        raise NotImplementedError

    def page(self, start: int, count: int) -> list[Item]:
        """Some of the indexed children."""
        return []


class Group(Branch):
    """Named children computed when asked for."""

    def __init__(self, compute: Callable[[], list[Item]]) -> None:
        self._compute = compute

    def items(self) -> list[Item]:
        return self._compute()


class ValueBranch(Branch):
    """The children of a Python value; `expression` evaluates to it, if anything does."""

    def __init__(self, value: Any, expression: str | None, left_open: Open | None = None) -> None:
        self.value = value
        self.expression = expression
        self.left_open = left_open

    @property
    def indexed(self) -> int:
        return count_children(self.value).indexed

    @property
    def named(self) -> int:
        return count_children(self.value).named

    def items(self) -> list[Item]:
        return self._items(children(self.value).named, 0)

    def page(self, start: int, count: int) -> list[Item]:
        return self._items(indexed_children(self.value, start, count), start)

    def _items(self, found: list[Child], start: int) -> list[Item]:
        return [_item(child, part(self.left_open, i)) for i, child in enumerate(found, start)]


class LazyBranch(Branch):
    """One value that is computed when the user asks: DAP wants exactly one child."""

    def __init__(self, name: str, compute: Callable[[], Any]) -> None:
        self._name = name
        self._compute = compute

    def items(self) -> list[Item]:
        return [Item(self._name, self._compute())]


def _item(child: Child, left_open: Open | None) -> Item:
    return Item(
        child.name,
        child.value,
        accessor=child.accessor,
        kind=child.kind,
        lazy=child.load if child.lazy is not None else None,
        left_open=left_open,
    )
