"""The filter `mutation`: a node wrote into a value that another name still shows."""

from __future__ import annotations

from collections.abc import Container, Sequence

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.engine.watches.arguments import Arguments
from fxdap.engine.watches.found import Finding
from fxdap.engine.writes import sharing

SHOWN = 6


class InPlaceWatch:
    """Looks at what the nodes of one program did to their arguments."""

    def __init__(self, program: Program, selected: Container[int] | None) -> None:
        self._program = program
        self._selected = selected

    def first(self, frame: Frame, arguments: Arguments) -> list[Finding]:
        """What the node that had these arguments wrote, if others see it."""
        index = arguments.node
        if self._selected is not None and index not in self._selected:
            return []
        written = arguments.written()
        shown = sharing(frame, written, index) if written else []
        if not shown:
            return []
        targets = [place for place in arguments.written_places() if place in shown]
        return [Finding(index, "mutation", self._text(index, targets, shown))]

    def _text(self, index: int, targets: Sequence[int], shown: Sequence[int]) -> str:
        name = self._program.nodes[index].name
        others = [place for place in shown if place not in targets]
        wrote = self._names(targets) if targets else "a buffer of its module"
        text = f"%{name} wrote into {wrote}"
        if others:
            text += f"; {self._names(others)} show{'s' if len(others) == 1 else ''} it too"
        readers = self._readers(index, shown)
        return f"{text}; read later by {self._names(readers)}" if readers else text

    def _readers(self, index: int, shown: Sequence[int]) -> list[int]:
        """The nodes after the write that read one of the changed values under its old name."""
        program = self._program
        users = {program.index[user] for place in shown for user in program.nodes[place].users}
        return sorted(user for user in users if user > index)

    def _names(self, indices: Sequence[int]) -> str:
        names = [f"%{self._program.nodes[i].name}" for i in indices[:SHOWN]]
        rest = len(indices) - len(names)
        return ", ".join(names) + (f" and {rest} more" if rest else "")
