"""What a check finds in a Python file, and the edits that put it right."""

from dataclasses import dataclass
from typing import Literal

from fxdap.lsp.python.source import Place


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that takes the place of a stretch of source."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of edits that a user can apply, and the words for it."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: where, its kind (a stable word for filters), and a sentence with the cure."""

    place: Place
    code: str
    message: str
    severity: Literal["error", "warning"] = "error"
    fix: Fix | None = None
