"""One entry under a value in the Variables tree."""

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from fxdap.view.summary import Unreadable

MAX_ATTRIBUTES = 500


@dataclass(frozen=True, slots=True)
class Child:
    """A named part of a value.

    `accessor` is the Python suffix that reaches the part from its parent's expression, None
    where there is none. A child with `lazy` costs something to look at: its value comes from
    `load()`, once the user asks. `kind` is a DAP presentation kind such as "property".
    """

    name: str
    value: object = None
    accessor: str | None = None
    lazy: Callable[[], object] | None = None
    kind: str | None = None

    def load(self) -> object:
        """The value, computed now if it is lazy; an `Unreadable` if that raised."""
        return self.value if self.lazy is None else attempt(self.lazy)


@dataclass(frozen=True, slots=True)
class Children:
    """The parts of a value: the named ones, and how many indexed ones it has besides."""

    named: list[Child] = field(default_factory=list)
    indexed: int = 0


def attempt(get: Callable[[], object]) -> object:
    """What `get` returns, or an `Unreadable` that says why it failed."""
    try:
        return get()
    except Exception as error:
        return Unreadable(error)


def attribute(name: str, value: object, kind: str | None = "property") -> Child:
    """A child reached by attribute access."""
    return Child(name, value, accessor=f".{name}" if name.isidentifier() else None, kind=kind)


def own_attributes(value: Any) -> list[tuple[str, object]]:
    """What an object stores in its `__dict__` and slots; no property or `__getattr__` runs."""
    found = list(islice(getattr(value, "__dict__", {}).items(), MAX_ATTRIBUTES))
    for cls in type(value).__mro__:
        for name, slot in vars(cls).items():
            if isinstance(slot, types.MemberDescriptorType) and not name.startswith("__"):
                part = attempt(partial(slot.__get__, value))
                if not isinstance(part, Unreadable):  # a slot that was never set
                    found.append((name, part))
    return [(name, part) for name, part in found if isinstance(name, str)]


def item(name: str, value: object) -> Child:
    """A child reached by the index or key that `name` spells."""
    return Child(name, value, accessor=f"[{name}]", kind="data")


def page(values: Any, start: int, count: int) -> list[Any]:
    """Items `start` to `start + count` of anything that iterates."""
    return list(islice(values, max(start, 0), max(start, 0) + max(count, 0)))
