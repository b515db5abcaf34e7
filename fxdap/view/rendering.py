"""What the formatters of values share: their context, and text that stops when it is long."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fxdap.view.budget import Budget

MAX_DEPTH = 3
_INNER_ROOM = 60
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(slots=True)
class Context:
    """Where in a line a value is rendered: how deep, and how many characters it may take."""

    budget: Budget
    render: "Formatter"
    depth: int
    room: int

    def inner(self, value: Any) -> str:
        """Render a part of the current value."""
        room = min(self.room, _INNER_ROOM)
        return self.render(value, Context(self.budget, self.render, self.depth + 1, room))

    @property
    def is_inner(self) -> bool:
        return self.depth > 0

    @property
    def is_deepest(self) -> bool:
        return self.depth >= MAX_DEPTH


Formatter = Callable[[Any, Context], str]


def joined(pieces: Iterable[str], total: int, room: int) -> str:
    """The pieces that fit into `room`, and how many more there are; the rest is never made."""
    shown: list[str] = []
    for piece in pieces:
        room -= len(piece) + 2
        if room < 0 and shown:
            break
        shown.append(piece)
    if total > len(shown):
        shown.append(f"... {total - len(shown):,} more")
    return ", ".join(shown)


def cut(text: str, room: int) -> str:
    """At most `room` characters."""
    return text if len(text) <= room else f"{text[: max(room - 3, 0)]}..."


def one_line(text: str) -> str:
    """Text without line breaks and other control characters."""
    if not text.isprintable():
        text = " ".join(text.split())
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def without_address(text: str) -> str:
    """A default repr without the part that differs in every run."""
    return _ADDRESS.sub("", text)
