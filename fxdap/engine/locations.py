"""Where breakpoints can be: selectors, lines of a graph listing, lines of Python source."""

from collections.abc import Sequence
from dataclasses import dataclass

from fxdap.engine.program import Program
from fxdap.engine.selectors import Selector
from fxdap.engine.sourcelines import enclosing_function, real_path, stops_by_line
from fxdap.engine.stops import Reason


@dataclass
class SelectorLocation:
    """The nodes that a selector matches."""

    selector: Selector
    reason: Reason = "function breakpoint"

    @property
    def after(self) -> bool:
        return self.selector.after

    def indices(self, program: Program) -> Sequence[int]:
        return self.selector.match(program).indices

    def describe(self, programs: Sequence[Program]) -> tuple[bool, str]:
        if not programs:
            return False, "waiting for a graph to run"
        found = [(p, self.selector.match(p)) for p in programs]
        total = sum(len(match.indices) for _, match in found)
        meaning = next((m.taken_as for _, m in found if m.indices and m.taken_as), "")
        taken = f"taken as {meaning}: " if meaning else ""
        if total == 0:
            names = ", ".join(p.name for p in programs[:3])
            taken = "tried as node name, opcode and target: " if found[0][1].taken_as else ""
            return False, f"{taken}{self.selector.text!r} matches no node of {names}"
        return True, f"{taken}matches {total} node{'s' if total != 1 else ''}"

    def identity(self) -> str:
        return self.selector.text


@dataclass
class ListingLocation:
    """A node of a listing file, found by its qualified name."""

    file: str
    name: str
    after: bool = False
    reason: Reason = "breakpoint"

    def indices(self, program: Program) -> Sequence[int]:
        path, _, name = self.name.rpartition("/")
        listed = program.origin or program
        if listed.path != path or not same_file(listed.file, self.file):
            return ()
        index = program.made_for(name) if program.origin else program.by_name.get(name)
        return () if index is None else (index,)

    def line(self, programs: Sequence[Program]) -> int | None:
        """The line the node stands on now; None if no program has it."""
        for program in programs:
            for index in self.indices(program) if program.origin is None else ():
                return program.line(index)
        return None

    def describe(self, programs: Sequence[Program]) -> tuple[bool, str]:
        mine = [p for p in programs if same_file(p.file, self.file)]
        if not mine:
            return False, "waiting for this graph to run"
        if self.line(mine) is None:
            return False, f"the graph has no node %{self.name} any more"
        return True, ""

    def identity(self) -> str:
        return f"{self.file}:{self.name}"


@dataclass
class SourceLocation:
    """A line of Python source; bound to the first node of each time the line runs."""

    file: str
    line: int
    after: bool = False
    reason: Reason = "breakpoint"

    def indices(self, program: Program) -> Sequence[int]:
        line = self.bound_line([program, *program.family])
        return stops_by_line(program).get((real_path(self.file), line), ())

    def bound_line(self, programs: Sequence[Program]) -> int:
        """The line itself or, without nodes on it, the next of its function that has some."""
        file = real_path(self.file)
        function = enclosing_function(file, self.line)
        for line in range(self.line, self.line + 11):
            bound = any((file, line) in stops_by_line(p) for p in programs)
            if bound and (line == self.line or enclosing_function(file, line) == function):
                return line
        return self.line

    def describe(self, programs: Sequence[Program]) -> tuple[bool, str]:
        if not programs:
            return False, "waiting for a graph to run"
        total = sum(len(self.indices(p)) for p in programs)
        if total:
            return True, f"binds to {total} place{'s' if total != 1 else ''} in the graph"
        if not any(stops_by_line(p) for p in programs):
            return False, "the graph records no source lines (torch.export and fxdap's capture do)"
        return False, "no node of the graph comes from this line"

    def identity(self) -> str:
        return f"{self.file}:{self.line}"


def same_file(left: str, right: str) -> bool:
    """Whether two paths name one file."""
    return left == right or real_path(left) == real_path(right)
