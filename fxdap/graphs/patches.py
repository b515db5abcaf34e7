"""Replacing attributes of classes and modules for a session, and putting the originals back."""

from types import ModuleType
from typing import Any

from fxdap.graphs.dynamo import skip

_ABSENT = object()


class Patches:
    """Remembers what was replaced. `undo` restores every original object, newest first."""

    def __init__(self) -> None:
        self._undone: list[tuple[type | ModuleType, str, Any, Any]] = []

    def set(self, owner: type | ModuleType, name: str, value: Any) -> None:
        """Replace `owner.name`, which must be defined on `owner` itself."""
        skip(value)
        self._undone.append((owner, name, owner.__dict__.get(name, _ABSENT), value))
        setattr(owner, name, value)

    def is_set(self, owner: type | ModuleType, name: str) -> bool:
        """Whether `owner.name` is replaced now."""
        return any(o is owner and n == name for o, n, _, _ in self._undone)

    def undo(self) -> None:
        """Restore everything but what the user has replaced since."""
        while self._undone:
            owner, name, original, value = self._undone.pop()
            if owner.__dict__.get(name) is not value:
                continue
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
