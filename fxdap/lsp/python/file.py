"""A Python document as the server keeps it: what was found in it, and what there is to hover on."""

from collections.abc import Iterator
from functools import cached_property

from fxdap.lsp.lines import split_lines
from fxdap.lsp.python.checks import CHECKS
from fxdap.lsp.python.classes import InterpreterClasses
from fxdap.lsp.python.findings import Finding
from fxdap.lsp.python.source import Source
from fxdap.view.python_targets import PythonTarget, python_targets

LIMIT = 500_000
"""Characters; a longer file is not looked at: parsing it would hold up the server."""


class PythonFile:
    """One version of a document. Text that is not Python, being edited, simply has nothing."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self._text = text if len(text) <= LIMIT else ""
        self._findings: list[Finding] | None = None

    @cached_property
    def source(self) -> Source | None:
        """The parsed file; None if it is not Python or has nothing to do with torch.fx."""
        if "fx" not in self._text:
            return None
        try:
            return Source(self._text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def classes(self) -> InterpreterClasses | None:
        """The file's Interpreter classes."""
        return InterpreterClasses(self.source) if self.source is not None else None

    @cached_property
    def targets(self) -> list[PythonTarget]:
        """The module classes and functions that can be debugged as they stand."""
        return python_targets(self._text) if "example_inputs" in self._text else []

    def check(self) -> Iterator[Finding | None]:
        """Look for faults; None after each check, where something else may have a turn."""
        found: set[Finding] = set()
        if self.source is not None and self.classes is not None:
            for check in CHECKS:
                found.update(check(self.source, self.classes))
                yield None
        self._findings = sorted(found, key=lambda finding: (finding.place, finding.code))
        yield from self._findings

    @property
    def findings(self) -> list[Finding]:
        """All faults in the order of the text."""
        if self._findings is None:
            return [finding for finding in self.check() if finding is not None]
        return self._findings
