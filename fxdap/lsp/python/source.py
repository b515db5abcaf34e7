"""A Python file as the checks read it: its tree, what its names mean, where things stand."""

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from fxdap.lsp.lines import split_lines

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Scope: TypeAlias = Function | ast.Module
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)


class Place(NamedTuple):
    """A stretch of source: 0-based lines, and columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int

    def start(self) -> "Place":
        """The empty place before it."""
        return Place(self.line, self.column, self.line, self.column)


class Source:
    """Parsed text. SyntaxError for what is not Python (ValueError, RecursionError likewise)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = split_lines(text)
        self.tree = ast.parse(text)
        self._bytes: dict[int, bytes] = {}
        self.nodes: list[ast.AST] = list(ast.walk(self.tree))
        """Every node of the tree."""
        self._names = dict(_imported(self.nodes))
        self.scopes: list[Scope] = [node for node in self.nodes if isinstance(node, _SCOPES)]
        """The module and every function, methods and nested ones included."""
        self._own: dict[Scope, list[ast.AST]] = {}

    def qualified(self, expression: ast.AST) -> str | None:
        """`torch.fx.Interpreter` for what names it through imports; None for anything else."""
        if isinstance(expression, ast.Name):
            return self._names.get(expression.id)
        if isinstance(expression, ast.Attribute):
            owner = self.qualified(expression.value)
            return f"{owner}.{expression.attr}" if owner else None
        return None

    def imports(self, package: str) -> bool:
        """Whether the file imports the package or something of it."""
        return any(n == package or n.startswith(package + ".") for n in self._names.values())

    def column(self, line: int, offset: int) -> int:
        """The column in characters: ast counts UTF-8 bytes. `line` is 1-based as ast has it."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset
        encoded = self._bytes.setdefault(line, text.encode())
        return len(encoded[:offset].decode(errors="replace"))

    def own(self, scope: Scope) -> list[ast.AST]:
        """The nodes of a function's or module's body, in text order, without nested definitions."""
        found = self._own.get(scope)
        if found is None:
            found = self._own[scope] = [n for statement in scope.body for n in _own(statement)]
        return found

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        assert isinstance(node, (ast.expr, ast.stmt, ast.arg))
        end, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return Place(
            node.lineno - 1,
            self.column(node.lineno, node.col_offset),
            end - 1,
            self.column(end, end_column),
        )

    def segment(self, node: ast.AST) -> str:
        """The text of a node; ast.get_source_segment splits the whole file each time."""
        place = self.place(node)
        lines = self.lines[place.line : place.end_line + 1]
        if not lines:
            return ""
        lines[-1] = lines[-1][: place.end_column]
        lines[0] = lines[0][place.column :]
        return "\n".join(lines)

    def name_place(self, definition: Function | ast.ClassDef) -> Place:
        """Where the name of a function or class stands in its definition."""
        line = definition.lineno - 1
        start = self.lines[line].find(definition.name, self.column(line + 1, definition.col_offset))
        return Place(line, start, line, start + len(definition.name))

    def first_import(self) -> Place:
        """Where an import can be put: before the first one, or at the top."""
        for statement in self.tree.body:
            future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            if isinstance(statement, (ast.Import, ast.ImportFrom)) and not future:
                return self.place(statement).start()
        return Place(0, 0, 0, 0)

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement."""
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]


def _own(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _own(child)


def called_method(node: ast.AST) -> tuple[ast.expr, str] | None:
    """The owner and the name of the method that a call calls."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value, node.func.attr
    return None


def is_name(node: ast.AST | None, name: str) -> bool:
    """Whether the expression is just this variable."""
    return isinstance(node, ast.Name) and node.id == name


def _imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (root, root)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
