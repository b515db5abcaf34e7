"""Hovering in source: from an expression to a value that surely is meant."""

from __future__ import annotations

import ast
import builtins
import linecache
import operator

from torch.fx import Node

from fxdap.engine.frame import Frame
from fxdap.engine.sourcelines import real_path
from fxdap.view.source import user_line

_PURE = (
    ast.Expression,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Load,
    ast.Slice,
    ast.Tuple,
    ast.UnaryOp,
    ast.USub,
)


def is_pure(text: str) -> bool:
    """Whether evaluating an expression calls nothing: all that a hover may do unasked."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return all(isinstance(node, _PURE) for node in ast.walk(tree))


def names_node(listing: str, line: int, column: int) -> bool:
    """Whether the word at a column of a listing has the `%` of a node's name."""
    before = linecache.getline(listing, line)[: column - 1]
    return before.endswith("%")


def node_assigned(frame: Frame, word: str, file: str, line: int, column: int) -> int | None:
    """The node whose value the hovered name got on its line; None when that is not sure.

    The name must stand left of the line's `=`, with a call or an operator right of it: its value
    is then the last node that the line made, unless that only unpacks a tuple. Of a line that ran
    several times the latest run counts.
    """
    if not _is_assigned(word, linecache.getline(file, line), column):
        return None
    nodes = frame.program.nodes
    made = [i for i in _nodes_of_line(frame, file, line) if i <= frame.position]
    if not made or nodes[made[-1]].target is operator.getitem:
        return None
    following = made[-1] + 1
    unfinished = following < len(nodes) and _is_made_at(nodes[following], real_path(file), line)
    return None if unfinished or made[-1] not in set(frame.computed()) else made[-1]


def _nodes_of_line(frame: Frame, file: str, line: int) -> list[int]:
    wanted = real_path(file)
    return [i for i, n in enumerate(frame.program.nodes) if _is_made_at(n, wanted, line)]


def _is_made_at(node: Node, file: str, line: int) -> bool:
    where = user_line(node)
    return where is not None and where.line == line and real_path(where.file) == file


def _is_assigned(word: str, text: str, column: int) -> bool:
    try:
        statement = ast.parse(text.strip()).body[0]
    except (SyntaxError, IndexError):
        return False
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, indent = statement.targets[0], len(text) - len(text.lstrip())
    if not isinstance(target, ast.Name) or target.id != word:
        return False
    return column - 1 - indent <= len(word) and _makes_one_value(statement.value)


def _makes_one_value(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return not isinstance(value.func, ast.Name) or not hasattr(builtins, value.func.id)
    return isinstance(value, ast.BinOp)
