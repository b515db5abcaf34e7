"""A listing as nodes that know their module, source line, producers and users."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from fxdap.lsp.lines import split_lines
from fxdap.lsp.listing.line import Header, Line, NodeLine, Place, Use, parse_line
from fxdap.view.listing_text import qualified_name


@dataclass(slots=True, eq=False)
class Node:
    """A node where it stands. `inputs` and `users` name each node once, in order."""

    line: int
    text: NodeLine
    module: "Module"
    place: Place | None
    inputs: list["Node"] = field(default_factory=list)
    users: list["Node"] = field(default_factory=list)

    @property
    def qualified(self) -> str:
        return qualified_name(self.text.graph, self.text.name)

    @property
    def last_use(self) -> "Node | None":
        return self.users[-1] if self.users else None


@dataclass(slots=True, eq=False)
class Module:
    """The nodes of one module call, or of a graph outside of any; `header` is the first one's line.

    A graph's own scope has the path "".
    """

    graph: str
    path: str
    class_name: str
    call: int
    header: int
    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Section:
    """One graph: the outermost has the path ""."""

    path: str
    title: str
    header: int
    user: str
    parent: "Section | None"
    end: int = 0
    nodes: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Run:
    """A header and the lines below it up to the next one; `end` is the last of them."""

    line: int
    end: int
    header: Header
    module: Module


class Listing:
    """The text of one listing, read once. Lines and columns start at 0."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.parsed: list[Line] = list(map(parse_line, self.lines))
        self.nodes: list[Node] = []
        self.sections: dict[str, Section] = {}
        self.runs: list[Run] = []
        self.modules: dict[tuple[str, str, int], Module] = {}
        self.by_line: dict[int, Node] = {}
        self.places: dict[int, Place] = {}
        self._definitions: dict[str, dict[str, Node]] = {}
        self.duplicates: list[Node] = []
        _Reader(self).read()
        self._link()

    def find(self, graph: str, name: str) -> Node | None:
        """The node of that name in a graph."""
        return self._definitions.get(graph, {}).get(name)

    def user_of(self, section: Section) -> Node | None:
        """The node that runs a nested graph; it is in one of the graphs around it."""
        outer = section.parent
        while outer is not None:
            node = self.find(outer.path, section.user)
            if node is not None:
                return node
            outer = outer.parent
        return None

    def define(self, node: Node) -> None:
        names = self._definitions.setdefault(node.text.graph, {})
        if node.text.name in names:
            self.duplicates.append(node)
        else:
            names[node.text.name] = node

    def line_at(self, line: int) -> Line:
        """What a line says, None for one that does not exist."""
        return self.parsed[line] if line < len(self.parsed) else None

    def at(self, line: int, column: int) -> tuple[Node, Use | None] | None:
        """The node that a position names, and the use if it is one; None beside all names."""
        owner = self.by_line.get(line)
        if owner is None:
            return None
        if owner.text.start <= column <= owner.text.end:
            return owner, None
        for use in owner.text.uses:
            if use.start <= column <= use.end:
                node = self.find(owner.text.graph, use.name)
                return (node, use) if node is not None else None
        return None

    def uses_of(self, node: Node) -> Iterator[tuple[int, Use]]:
        """Every place that reads a node, with its line."""
        for user in node.users:
            for use in user.text.uses:
                if use.name == node.text.name:
                    yield user.line, use

    def run_at(self, line: int) -> Run | None:
        """The run whose header is on a line."""
        return self._runs_by_line.get(line)

    def nodes_between(self, first: int, last: int) -> list[Node]:
        """The nodes on lines from `first` up to, not including, `last`."""
        start = bisect_left(self.nodes, first, key=_line_of)
        return self.nodes[start : bisect_left(self.nodes, last, key=_line_of)]

    def below(self, module: Module) -> list[Node]:
        """The nodes of one call of a module, and of the modules that it called."""
        inner = self._inner.get(module, [])
        return [node for each in (module, *inner) for node in each.nodes]

    @cached_property
    def _inner(self) -> dict[Module, list[Module]]:
        """The modules that each module has around them, by where their headers stand."""
        calls: dict[tuple[str, str], list[Module]] = {}
        for module in self.modules.values():
            calls.setdefault((module.graph, module.path), []).append(module)
        found: dict[Module, list[Module]] = {}
        for module in self.modules.values():
            path = module.path
            while "." in path:
                path = path.rpartition(".")[0]
                around = calls.get((module.graph, path))
                if around is not None:
                    found.setdefault(_running_at(around, module.header), []).append(module)
        return found

    @cached_property
    def _runs_by_line(self) -> dict[int, Run]:
        return {run.line: run for run in self.runs}

    def _link(self) -> None:
        for node in self.nodes:
            names = self._definitions[node.text.graph]
            for use in node.text.uses:
                producer = names.get(use.name)
                if producer is None or producer is node:
                    continue
                if not producer.users or producer.users[-1] is not node:
                    producer.users.append(node)
                    node.inputs.append(producer)


def _running_at(calls: list[Module], line: int) -> Module:
    """The last call that began above a line; the first one also counts if it begins below."""
    begun = [call for call in calls if call.header <= line]
    return begun[-1] if begun else calls[0]


def _line_of(node: Node) -> int:
    return node.line


class _Reader:
    """Goes through the lines once and keeps what the last headers said."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._section = self._add_section("", "", 0, "")
        self._root = self._module("", "", "", 1, 0)
        self._current = self._root
        self._place: Place | None = None
        self._open: tuple[int, Header] | None = None

    def read(self) -> None:
        for number, parsed in enumerate(self._listing.parsed):
            if isinstance(parsed, NodeLine):
                self._add_node(number, parsed)
            elif isinstance(parsed, Place):
                self._place = self._listing.places[number] = parsed
            elif isinstance(parsed, Header):
                self._add_header(number, parsed)
        self._close_run(len(self._listing.lines) - 1)

    def _add_node(self, number: int, text: NodeLine) -> None:
        if text.graph != self._section.path:
            # An edited listing may lack the header of a nested graph.
            self._enter(self._section_of(text.graph, number))
        outside = text.op in ("placeholder", "output")
        module = self._root if outside else self._current
        node = Node(number, text, module, None if outside else self._place)
        module.nodes.append(node)
        self._section.nodes.append(node)
        self._section.end = number
        self._listing.nodes.append(node)
        self._listing.by_line[number] = node
        self._listing.define(node)

    def _add_header(self, number: int, header: Header) -> None:
        if header.text and self._section.title not in ("", header.text):
            return  # a remark about the next line
        self._close_run(number - 1)
        self._open = (number, header)
        self._place = header.place
        if header.place is not None:
            self._listing.places[number] = header.place
        if header.graph:
            known = self._listing.sections.get(header.graph)
            section = known or self._add_section(header.graph, "", number, header.user)
            self._enter(section)
        elif header.path:
            self._current = self._module(
                self._section.path, header.path, header.class_name, header.call, number
            )
        else:
            self._current = self._root
            if not self._section.title:
                self._section.title, self._section.header = header.text, number

    def _close_run(self, end: int) -> None:
        if self._open is None:
            return
        line, header = self._open
        while end > line and not self._listing.lines[end].strip():
            end -= 1
        self._listing.runs.append(Run(line, end, header, self._current))
        self._open = None

    def _section_of(self, path: str, number: int) -> Section:
        return self._listing.sections.get(path) or self._add_section(path, "", number, "")

    def _add_section(self, path: str, title: str, number: int, user: str) -> Section:
        section = Section(path, title or path, number, user, self._parent_of(path))
        self._listing.sections[path] = section
        return section

    def _parent_of(self, path: str) -> Section | None:
        sections = self._listing.sections
        while path:
            path = path.rpartition(".")[0]
            if path in sections:
                return sections[path]
        return sections.get("")

    def _enter(self, section: Section) -> None:
        self._section = section
        self._root = self._current = self._module(section.path, "", "", 1, section.header)

    def _module(self, graph: str, path: str, class_name: str, call: int, number: int) -> Module:
        key = (graph, path, call)
        module = self._listing.modules.get(key)
        if module is None:
            module = Module(graph, path, class_name, call, number)
            self._listing.modules[key] = module
        return module
