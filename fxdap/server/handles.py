"""Ids that a client holds: stack frames and variables."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Generic, Literal, TypeVar

from fxdap.engine.frame import Frame
from fxdap.engine.thread import DebugThread

T = TypeVar("T")

FIRST_ID = 1000


class Handles(Generic[T]):
    """Ids for objects that live until their thread resumes.

    With `stable`, the same key gets the same id at every stop, so that a client's trees stay
    open; otherwise every stop has new ids. An id whose object is gone is unknown. Used by the
    server thread and by stopped threads; single dict operations, so the GIL is lock enough.
    """

    def __init__(self, *, stable: bool) -> None:
        self._stable = stable
        self._next = count(FIRST_ID)
        self._ids: dict[Hashable, int] = {}
        self._objects: dict[int, tuple[int, T]] = {}

    def add(self, key: Hashable, owner: int, value: T) -> int:
        """Return the id of `key`, now meaning `value`, until `owner` is released."""
        ident = self._ids.get(key)
        if ident is None:
            ident = self._ids[key] = next(self._next)
        self._objects[ident] = (owner, value)
        return ident

    def renew(self, ident: int, owner: int, value: T) -> None:
        """Let an id that `add` gave mean `value`, until `owner` is released."""
        self._objects[ident] = (owner, value)

    def get(self, ident: int) -> T | None:
        """The object, or None if the id is unknown or out of date."""
        found = self._objects.get(ident)
        return None if found is None else found[1]

    def owner(self, ident: int) -> int | None:
        """The thread id an object belongs to."""
        found = self._objects.get(ident)
        return None if found is None else found[0]

    def clear(self) -> None:
        """Forget all objects."""
        self._objects.clear()

    def release(self, owner: int) -> None:
        """Forget the objects of a thread that resumes; nothing keeps its values alive."""
        gone = {i for i, (o, _) in list(self._objects.items()) if o == owner}
        for ident in gone:
            self._objects.pop(ident, None)
        if not self._stable:
            self._ids = {key: ident for key, ident in self._ids.items() if ident not in gone}


@dataclass(frozen=True)
class FrameView:
    """One DAP stack frame: an engine frame at its node, or at one module around the node.

    `frame` is None for a Python frame; `scope` is the module's path, None for the node itself.
    """

    thread: DebugThread
    frame: Frame | None
    scope: str | None = None


@dataclass(frozen=True)
class Jump:
    """One way to get to a node, as gotoTargets offers it."""

    frame: Frame
    index: int
    how: Literal["back", "run", "skip"]
