"""The nodes of the variables tree, before they are numbered and formatted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fxdap.view.children import Child, children, indexed_children


@dataclass(frozen=True)
class Item:
    """One row: a value with its name, or a group (`branch`) without a value."""

    name: str
    value: Any = None
    accessor: str | None = None
    branch: Branch | None = None
    text: str | None = None
    type: str | None = None
    kind: str | None = None
    lazy: Callable[[], Any] | None = None
    line: int | None = None


class Branch:
    """Something that can be expanded."""

    indexed = 0
    named: int | None = None

    def items(self) -> list[Item]:
        """The named children."""
        raise NotImplementedError

    def page(self, start: int, count: int) -> list[Item]:
        """Some of the indexed children."""
        return []


class Group(Branch):
    """Named children computed when asked for."""

    def __init__(self, compute: Callable[[], list[Item]], count: int | None = None) -> None:
        self._compute = compute
        self.named = count

    def items(self) -> list[Item]:
        return self._compute()


class ValueBranch(Branch):
    """The children of a Python value; `expression` evaluates to it, if anything does."""

    def __init__(self, value: Any, expression: str | None, extra: list[Item] | None = None) -> None:
        self.value = value
        self.expression = expression
        self._extra = extra or []
        found = children(value)
        self._children = found.named
        self.indexed = found.indexed
        self.named = len(found.named) + len(self._extra)

    @property
    def expandable(self) -> bool:
        return bool(self.named or self.indexed)

    def items(self) -> list[Item]:
        return [_item(c) for c in self._children] + self._extra

    def page(self, start: int, count: int) -> list[Item]:
        return [_item(c) for c in indexed_children(self.value, start, count)]


class LazyBranch(Branch):
    """One value that is computed when the user asks: DAP wants exactly one child."""

    def __init__(self, name: str, compute: Callable[[], Any]) -> None:
        self._name = name
        self._compute = compute
        self.named = 1

    def items(self) -> list[Item]:
        return [Item(self._name, self._compute())]


def _item(child: Child) -> Item:
    lazy = child.load if child.lazy is not None else None
    return Item(child.name, child.value, accessor=child.accessor, kind=child.kind, lazy=lazy)
