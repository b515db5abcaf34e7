"""What a method of Interpreter is really called with, and what becomes of its answer."""

import ast
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.python.classes import InterpreterClass, InterpreterClasses
from fxdap.lsp.python.contracts import Contract
from fxdap.lsp.python.request import Request
from fxdap.lsp.python.source import Place, Source, is_name

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

_TITLES = {"Interpreter": "torch.fx.Interpreter", "Transformer": "torch.fx.Transformer"}


def hover(server: "Server", params: types.HoverParams) -> types.Hover | None:
    """On the name of an override, or of a method used on `self`, `super()` or an interpreter."""
    request = Request(server, params.text_document.uri)
    source, classes = request.file.source, request.file.classes
    if source is None or classes is None:
        return None
    line, column = request.columns.locate(params.position)
    for place, cls, name in _Methods(source, classes).on_line(line):
        contract = cls.contracts.get(name)
        if contract is not None and place.column <= column <= place.end_column:
            text = types.MarkupContent(types.MarkupKind.Markdown, _text(cls, name, contract))
            return types.Hover(text, request.range(place))
    return None


def _text(cls: InterpreterClass, name: str, contract: Contract) -> str:
    title = _TITLES.get(cls.kind, cls.kind)
    parts = [f"```python\n{title}.{contract.signature(name)}\n```", contract.text]
    if name == "map_nodes_to_values" and cls.kind == "fxdap.Interpreter":
        parts.append("fxdap.Interpreter also calls an override `(node, value)` with each result.")
    return "\n\n".join(parts)


class _Methods:
    """Finds the methods of interpreters that a line names."""

    def __init__(self, source: Source, classes: InterpreterClasses) -> None:
        self._source = source
        self._classes = classes

    def on_line(self, line: int) -> list[tuple[Place, InterpreterClass, str]]:
        found = []
        for cls in self._classes.found.values():
            for name, method in cls.methods.items():
                found.append((self._source.name_place(method), cls, name))
            if cls.definition is not None:
                found += self._used(cls.definition, {"self": cls, "super": cls})
        for scope in self._source.scopes:
            variables = self._classes.variables(scope)
            found += self._used(scope, variables) if variables else []
        return [each for each in found if each[0].line == line]

    def _used(
        self, tree: ast.AST, owners: dict[str, InterpreterClass]
    ) -> list[tuple[Place, InterpreterClass, str]]:
        found = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                cls = owners.get(_owner(node.value))
                if cls is not None:
                    end = self._source.place(node)
                    start = end.end_column - len(node.attr)
                    place = Place(end.end_line, start, end.end_line, end.end_column)
                    found.append((place, cls, node.attr))
        return found


def _owner(value: ast.expr) -> str:
    if isinstance(value, ast.Name):
        return value.id
    called = isinstance(value, ast.Call) and is_name(value.func, "super")
    return "super" if called else ""
