"""A graph as text: one node per line under its module, the same bytes in every process."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from torch.fx import Graph, Node

from fxdap.view.guards import ABOUT, is_guard
from fxdap.view.listing_text import qualified_name
from fxdap.view.nested import NestedGraph, nested_graphs
from fxdap.view.node_text import node_line
from fxdap.view.regions import regions
from fxdap.view.scope import ModuleScope, called_class, enclosing_scopes
from fxdap.view.source import SourceFrame, user_line

_LOCATION_COLUMN = 52
_MAX_CODE = 100
_NO_SOURCE = ("placeholder", "output")
_ROOT = ModuleScope(path="", class_name="", qualified_class="")


@dataclass(frozen=True, slots=True)
class Listing:
    """The text of a graph and of all graphs nested in it.

    `lines` maps each node's qualified name (`add_1`, `cond.true/add_1`) to its 1-based line.
    """

    text: str
    lines: dict[str, int]


def build_listing(module: Any, graph: Graph | None = None, *, title: str = "graph") -> Listing:
    """List `graph` (by default the module's own), then the graphs nested in it, indented."""
    graph = module.graph if graph is None else graph
    nested = nested_graphs(module, graph)
    nodes = [node for part in (graph, *(inner.graph for inner in nested)) for node in part.nodes]
    writer = _Writer(short_file_names(nodes))
    writer.add_graph(graph, f"# {title}", path="", indent="")
    for inner in nested:
        writer.add_blank()
        writer.add_graph(
            inner.graph, _nested_title(inner), path=inner.path, indent="  " * inner.depth
        )
    return Listing(text="\n".join(writer.text) + "\n", lines=writer.lines)


def _nested_title(inner: NestedGraph) -> str:
    return f"# graph {inner.path}  in %{inner.user.name}"


def short_file_names(nodes: Iterable[Node]) -> dict[str, str]:
    """Each source file of the nodes by its last path parts, as few as tell them apart."""
    files = {frame.file for node in nodes if (frame := user_line(node)) is not None}
    names: dict[str, str] = {}
    for file in files:
        parts = PurePath(file.replace("\\", "/")).parts
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[-count:])
            if sum(other.replace("\\", "/").endswith(f"/{name}") for other in files) <= 1:
                break
        names[file] = name
    return names


class _Writer:
    """Collects the lines; remembers the scope and source line that the last ones stated."""

    def __init__(self, file_names: dict[str, str]) -> None:
        self.text: list[str] = []
        self.lines: dict[str, int] = {}
        self._file_names = file_names
        self._path = ""
        self._indent = ""
        self._root_header = ""
        self._scope: ModuleScope | None = None
        self._place: tuple[str, int] | None = None

    def add_graph(self, graph: Graph, header: str, path: str, indent: str) -> None:
        self._path, self._indent, self._root_header = path, indent, header
        self._scope = self._place = None
        nodes = list(graph.nodes)
        found = regions(nodes)
        begins = {region.start: region.label for region in found}
        ends = {region.stop - 1: region.label for region in found}
        for index, node in enumerate(nodes):
            self._add_place(node)
            if index in begins:
                self._append(f"{self._indent}  # begin {begins[index]}")
            self._add_node(node)
            if index in ends:
                self._append(f"{self._indent}  # end {ends[index]}")

    def add_blank(self) -> None:
        self.text.append("")

    def _add_place(self, node: Node) -> None:
        """State the module and the source line of a node, where they differ from the last."""
        if self._scope is not None and node.op in _NO_SOURCE:
            return
        scopes = enclosing_scopes(node)
        scope = scopes[-1] if scopes else _ROOT
        source = user_line(node)
        place = (source.file, source.line) if source is not None else self._place
        if scope != self._scope:
            self._add_header(scope, source)
        elif source is not None and place != self._place:
            code = f"  {_shorten(source.code)}" if source.code else ""
            self._append(f"{self._indent}  # {self._location(source)}{code}")
        self._scope, self._place = scope, place

    def _add_header(self, scope: ModuleScope, source: SourceFrame | None) -> None:
        header = f"# {scope.path}  {scope.class_name}" if scope.path else self._root_header
        if scope.call:
            header += f" (call {scope.call + 1})"
        header = self._indent + header
        if source is not None:
            header = f"{header:<{_LOCATION_COLUMN - 2}}  {self._location(source)}"
        self._append(header)

    def _add_node(self, node: Node) -> None:
        prefix = f"{self._path}/" if self._path else ""
        if is_guard(node):
            self._append(f"{self._indent}  # {ABOUT}")
        called = called_class(node)
        remark = f"  # {called}" if called else ""
        self._append(f"{self._indent}  {prefix}{node_line(node)}{remark}")
        self.lines[qualified_name(self._path, node.name)] = len(self.text)

    def _append(self, line: str) -> None:
        # A name or target may hold anything; a line of the file has to stay one line.
        self.text.append(line if line.isprintable() else _escape(line))

    def _location(self, source: SourceFrame) -> str:
        return f"{self._file_names[source.file]}:{source.line}"


def _shorten(code: str) -> str:
    return code if len(code) <= _MAX_CODE else f"{code[:_MAX_CODE]}..."


def _escape(line: str) -> str:
    return re.sub(
        r"[^ -~]",
        lambda found: (
            found[0] if found[0].isprintable() else found[0].encode("unicode_escape").decode()
        ),
        line,
    )
