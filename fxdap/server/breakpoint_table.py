"""Breakpoints as the client set them, and what it was told of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fxdap.engine.breakpoints import Breakpoint as EngineBreakpoint
from fxdap.engine.debugger import Debugger
from fxdap.engine.locations import ListingLocation, SourceLocation
from fxdap.wire.messages import Breakpoint, Source


@dataclass
class Entry:
    """One breakpoint: the engine's, or the reason why there is none, and what was sent last."""

    id: int
    source: Source | None = None
    line: int | None = None
    engine: EngineBreakpoint | None = None
    problem: str | None = None
    reference: int | None = None
    """The address of an instruction breakpoint."""
    python_line: int | None = None
    """The line on which the relayed Python debugger stops."""
    sent: Breakpoint | None = None


class BreakpointTable:
    """Entries by group ("function", or a source path). Guarded by `Events.announcing`."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._groups: dict[str, list[Entry]] = {}

    def replace(self, group: str, entries: list[Entry]) -> list[Breakpoint]:
        """Set a group and return the answer, entry by entry."""
        self._groups[group] = entries
        self._debugger.breakpoints.replace(group, [e.engine for e in entries if e.engine])
        return [self._describe(entry) for entry in entries]

    def clear(self) -> None:
        """Remove every breakpoint."""
        for group in list(self._groups):
            self.replace(group, [])

    def changed(self) -> list[Breakpoint]:
        """The entries whose description is no longer what the client was told."""
        found = []
        for entry in [e for group in self._groups.values() for e in group]:
            before = entry.sent
            now = self._describe(entry)
            if now != before:
                found.append(now)
        return found

    def found_in_python(self, lines: dict[int, int]) -> None:
        """The Python debugger stops at these lines too, by the breakpoints' ids."""
        for entry in [e for group in self._groups.values() for e in group]:
            entry.python_line = lines.get(entry.id, entry.python_line)

    def _describe(self, entry: Entry) -> Breakpoint:
        entry.sent = self._state(entry)
        return entry.sent

    def _state(self, entry: Entry) -> Breakpoint:
        if entry.engine is None:
            return Breakpoint(
                id=entry.id,
                verified=False,
                message=entry.problem,
                source=entry.source,
                line=entry.line,
                reason="failed",
            )
        programs = self._debugger.programs()
        location = entry.engine.location
        verified, message = location.describe(programs)
        if not verified and entry.python_line is not None:
            source, line = entry.source, entry.python_line
            return Breakpoint(id=entry.id, verified=True, source=source, line=line)
        pending = not verified and message.startswith("waiting")
        return Breakpoint(
            id=entry.id,
            verified=verified,
            message=message or None,
            source=entry.source,
            line=self._line(entry),
            instruction_reference=f"{entry.reference:#x}" if entry.reference is not None else None,
            reason=None if verified else "pending" if pending else "failed",
        )

    def _line(self, entry: Entry) -> int | None:
        assert entry.engine is not None
        location, programs = entry.engine.location, self._debugger.programs()
        if isinstance(location, ListingLocation):
            return location.line(programs) or entry.line
        if isinstance(location, SourceLocation):
            return location.bound_line(programs)
        return entry.line


def is_listing(path: str) -> bool:
    """Whether a source path is a graph listing rather than Python source."""
    return Path(path).suffix == ".fxgraph"
