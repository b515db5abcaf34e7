"""The modules of a listing as a tree: outline and folding."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.line import Header
from fxdap.lsp.listing.model import Listing, Module, Node, Section
from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

MAX_NODES = 2000
"""Above this the outline has modules only: clients take seconds for more symbols."""

FEW = 10
"""More inputs or attributes in a row than this are one symbol, with them as its children."""

_OPCODE_KINDS = {
    "placeholder": types.SymbolKind.Variable,
    "get_attr": types.SymbolKind.Property,
    "output": types.SymbolKind.Event,
}

_GROUPS = {"placeholder": "inputs", "get_attr": "attributes"}


def document_symbols(
    server: "Server", params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    """Graphs, in them modules by their paths, in those the nodes."""
    request = Request(server, params.text_document.uri)
    outline = _Outline(request)
    sections = request.listing.sections.values()
    return [outline.section(section) for section in sections if section.nodes]


class _Outline:
    def __init__(self, request: Request) -> None:
        self._request = request
        self._with_nodes = len(request.listing.nodes) <= MAX_NODES
        self._modules: dict[str, list[Module]] = {}
        for module in request.listing.modules.values():
            self._modules.setdefault(module.graph, []).append(module)

    def section(self, section: Section) -> types.DocumentSymbol:
        symbol = self._symbol(
            section.title or "graph",
            types.SymbolKind.Namespace,
            section.header,
            section.end,
            f"in %{section.user}" if section.user else "",
        )
        root: list[types.DocumentSymbol] = []
        made: dict[tuple[str, int], types.DocumentSymbol] = {}
        for module in self._modules.get(section.path, []):
            if module.path:
                made[module.path, module.call] = self._module(module)
            else:
                root += self._grouped(module.nodes)
        for (path, call), inner in made.items():
            outer = _around(path, call, made)
            if outer is None:
                root.append(inner)
            else:
                outer.children = [*(outer.children or ()), inner]
                _widen(outer, inner)
        symbol.children = root
        return symbol

    def _module(self, module: Module) -> types.DocumentSymbol:
        last = module.nodes[-1].line if module.nodes else module.header
        call = f" (call {module.call})" if module.call > 1 else ""
        symbol = self._symbol(
            module.path + call, types.SymbolKind.Module, module.header, last, module.class_name
        )
        symbol.children = self._nodes(module.nodes)
        return symbol

    def _grouped(self, nodes: list[Node]) -> list[types.DocumentSymbol]:
        """A graph's own nodes; an exported one has hundreds of parameters before all modules."""
        found: list[types.DocumentSymbol] = []
        for op, group in groupby(nodes, lambda node: node.text.op):
            several = list(group)
            symbols = self._nodes(several)
            name = _GROUPS.get(op)
            if name is not None and len(several) > FEW:
                first, last = several[0].line, several[-1].line
                count = f"{len(several)} nodes"
                around = self._symbol(name, types.SymbolKind.Package, first, last, count)
                around.children = symbols
                symbols = [around]
            found += symbols
        return found

    def _nodes(self, nodes: list[Node]) -> list[types.DocumentSymbol]:
        if not self._with_nodes:
            return []
        return [
            types.DocumentSymbol(
                name=f"%{node.text.name}",
                detail=node.text.type_text or None,
                kind=_OPCODE_KINDS.get(node.text.op, types.SymbolKind.Function),
                range=self._request.line_range(node.line),
                selection_range=self._request.definition_range(node),
            )
            for node in nodes
        ]

    def _symbol(
        self, name: str, kind: types.SymbolKind, first: int, last: int, detail: str
    ) -> types.DocumentSymbol:
        return types.DocumentSymbol(
            name=name,
            detail=detail or None,
            kind=kind,
            range=self._request.columns.lines(first, max(first, last)),
            selection_range=self._request.line_range(first),
        )


def _around(
    path: str, call: int, made: dict[tuple[str, int], types.DocumentSymbol]
) -> types.DocumentSymbol | None:
    """The nearest module around one, in the same call of it if that is listed."""
    while "." in path:
        path = path.rpartition(".")[0]
        found = made.get((path, call)) or made.get((path, 1))
        if found is not None:
            return found
    return None


def _widen(outer: types.DocumentSymbol, inner: types.DocumentSymbol) -> None:
    """A symbol's range holds those of its children."""
    start = min(outer.range.start, inner.range.start)
    outer.range = types.Range(start, max(outer.range.end, inner.range.end))


def folding(server: "Server", params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Each nested graph, the lines below each module header, and what runs under a mode."""
    request = Request(server, params.text_document.uri)
    listing = request.listing
    found = [
        types.FoldingRange(section.header, section.end)
        for section in listing.sections.values()
        if section.end > section.header
    ]
    found += _regions(listing)
    starts = {fold.start_line for fold in found}
    found += [
        types.FoldingRange(run.line, run.end)
        for run in listing.runs
        if run.end > run.line and run.line not in starts
    ]
    return found


def _regions(listing: Listing) -> Iterator[types.FoldingRange]:
    """`# begin no_grad` to its `# end no_grad`."""
    begun: list[tuple[str, int]] = []
    for number, parsed in enumerate(listing.parsed):
        if not isinstance(parsed, Header):
            continue
        word, _, label = parsed.text.partition(" ")
        if word == "begin":
            begun.append((label, number))
        elif word == "end" and begun and begun[-1][0] == label:
            yield types.FoldingRange(begun.pop()[1], number)
