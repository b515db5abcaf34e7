"""One thing that a check found, in Python's columns."""

from dataclasses import dataclass
from enum import Enum

from fxdap.lsp.listing.model import Node


class Severity(Enum):
    """The specification's names."""

    Error = "Error"
    Warning = "Warning"
    Information = "Information"
    Hint = "Hint"


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` names the check; `related` are other places that belong to it."""

    line: int
    start: int
    end: int
    code: str
    message: str
    severity: Severity
    unnecessary: bool = False
    related: tuple[tuple[Node, str], ...] = ()
