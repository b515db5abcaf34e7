"""Loops over `graph.nodes` that insert nodes which they then visit, without end.

Erasing nodes, and inserting before the visited one, are safe: the list of nodes is linked, and
its iterator looks for the next one when it gets there (torch/fx/graph.py, `_node_list`).
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fxdap.lsp.python.classes import InterpreterClasses
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Place, Source, called_method, is_name

_OPCODES = ("call_function", "call_method", "call_module")
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In,
}  # fmt: skip


class _Insertion(NamedTuple):
    """A node made in a loop, and the tests that stand between the loop and it."""

    call: ast.Call
    guards: tuple[ast.expr | None, ...]


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """Loops whose every test also holds for the node that they insert."""
    if not source.imports("torch"):
        return
    for loop in source.nodes:
        if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)):
            continue
        nodes = loop.iter
        if not (isinstance(nodes, ast.Attribute) and nodes.attr == "nodes") or _may_end(loop):
            continue
        walk = _Walk(source, loop.target.id, source.segment(nodes.value))
        if any(walk.holds(each) for each in walk.insertions(loop.body, ())):
            yield _finding(source, nodes, loop.target.id)


def _may_end(loop: ast.For) -> bool:
    return any(isinstance(node, (ast.Break, ast.Return, ast.Raise)) for node in ast.walk(loop))


def _finding(source: Source, nodes: ast.Attribute, variable: str) -> Finding:
    text, place = source.segment(nodes), source.place(nodes)
    end = Place(place.end_line, place.end_column, place.end_line, place.end_column)
    return Finding(
        place,
        "endless-loop",
        f"The loop inserts a node after {variable}, visits it next, and inserts again: it never "
        f"ends. Loop over list({text}).",
        fix=Fix(f"Loop over list({text})", (Edit(place.start(), "list("), Edit(end, ")"))),
    )


class _Walk:
    """Finds what one loop inserts behind the node it visits."""

    def __init__(self, source: Source, variable: str, graph: str) -> None:
        self._source = source
        self._variable = variable
        self._graph = graph

    def insertions(
        self, block: Sequence[ast.stmt], guards: tuple[ast.expr | None, ...], after: bool = False
    ) -> Iterator[_Insertion]:
        """Insertions in a block; None among the guards is a test that is not understood."""
        for statement in block:
            if isinstance(statement, ast.If):
                yield from self.insertions(statement.body, (*guards, statement.test), after)
                opposite = _negated(statement.test)
                yield from self.insertions(statement.orelse, (*guards, opposite), after)
                if any(isinstance(node, ast.Continue) for node in statement.body):
                    guards = (*guards, opposite)
            elif isinstance(statement, ast.With):
                inside = after or any(self._inserts_after(i) for i in statement.items)
                yield from self.insertions(statement.body, guards, inside)
            elif isinstance(statement, (ast.Assign, ast.Expr, ast.AnnAssign)) and after:
                call = statement.value
                if isinstance(call, ast.Call) and self._makes_node(call):
                    yield _Insertion(call, guards)

    def holds(self, insertion: _Insertion) -> bool:
        """Whether all tests hold for the new node too, as far as the text shows."""
        return all(g is not None and self._test(g, insertion.call) for g in insertion.guards)

    def _inserts_after(self, item: ast.withitem) -> bool:
        called = called_method(item.context_expr)
        call = item.context_expr
        return (
            called is not None
            and called[1] == "inserting_after"
            and self._source.segment(called[0]) == self._graph
            and isinstance(call, ast.Call)
            and any(is_name(a, self._variable) for a in call.args)
        )

    def _makes_node(self, call: ast.Call) -> bool:
        called = called_method(call)
        return (
            called is not None
            and called[1] in _OPCODES
            and self._source.segment(called[0]) == self._graph
            and bool(call.args)
        )

    def _test(self, test: ast.expr, made: ast.Call) -> bool:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return all(self._test(each, made) for each in test.values)
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
            return False
        left, right = test.left, test.comparators[0]
        if not (isinstance(left, ast.Attribute) and is_name(left.value, self._variable)):
            return False
        called = called_method(made)
        if left.attr == "op" and called is not None:
            return self._compare(test.ops[0], right, repr(called[1]))
        if left.attr == "target":
            return self._compare(test.ops[0], right, ast.unparse(made.args[0]))
        return False

    def _compare(self, operator: ast.cmpop, right: ast.expr, value: str) -> bool:
        if isinstance(operator, (ast.Eq, ast.Is)):
            return ast.unparse(right) == value
        if isinstance(operator, ast.In) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            return value in [ast.unparse(each) for each in right.elts]
        return False


def _negated(test: ast.expr) -> ast.expr | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        opposite = _OPPOSITE[type(test.ops[0])]()
        return ast.Compare(test.left, [opposite], test.comparators)
    return None
