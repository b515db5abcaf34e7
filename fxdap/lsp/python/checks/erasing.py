"""Nodes erased while others still read them."""

import ast
from collections.abc import Iterator, Sequence

from fxdap.lsp.python.classes import InterpreterClasses
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Scope, Source, called_method, is_name

_HARMLESS = {"op", "target", "args", "kwargs", "name", "meta", "type", "next", "prev"}
_CREATES = {"call_function", "call_method", "call_module", "get_attr", "create_node"}


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """`erase_node(n)` before its uses are replaced, or with a replacement that nothing reads."""
    if not source.imports("torch"):
        return
    for scope in source.scopes:
        for block in _blocks(source, scope):
            for position, statement in enumerate(block):
                node = _erased(statement)
                if node is None:
                    continue
                later = _replaced_later(block[position + 1 :], node)
                if later is not None:
                    yield _too_early(source, statement, later, node)
                    continue
                new = _replacement(block[:position], node)
                if new is not None and _only_looked_at(source, scope, node):
                    yield _still_used(source, statement, node, new)


def _blocks(source: Source, scope: Scope) -> Iterator[Sequence[ast.stmt]]:
    yield scope.body
    for node in source.own(scope):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield block


def _erased(statement: ast.stmt) -> str | None:
    """The variable that a statement `graph.erase_node(variable)` erases."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    called = called_method(call) if call is not None else None
    if called is None or called[1] != "erase_node" or not isinstance(call, ast.Call):
        return None
    first = call.args[0] if len(call.args) == 1 else None
    return first.id if isinstance(first, ast.Name) else None


def _replaced_later(block: Sequence[ast.stmt], node: str) -> ast.stmt | None:
    for statement in block:
        if any(is_name(n, node) and not isinstance(n.ctx, ast.Load)
               for n in ast.walk(statement) if isinstance(n, ast.Name)):  # fmt: skip
            return None
        call = statement.value if isinstance(statement, ast.Expr) else None
        called = called_method(call) if call is not None else None
        if called and called[1] == "replace_all_uses_with" and is_name(called[0], node):
            return statement
    return None


def _replacement(block: Sequence[ast.stmt], node: str) -> str | None:
    """The variable of the node made beside the erased one, with the insert point at it."""
    for statement in block:
        if isinstance(statement, ast.With) and any(_at(item, node) for item in statement.items):
            for inner in statement.body:
                if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
                    called = called_method(inner.value)
                    if called and called[1] in _CREATES:
                        return inner.targets[0].id
    return None


def _at(item: ast.withitem, node: str) -> bool:
    call = item.context_expr
    called = called_method(call)
    return (
        called is not None
        and called[1] in ("inserting_after", "inserting_before")
        and isinstance(call, ast.Call)
        and any(is_name(a, node) for a in call.args)
    )


def _only_looked_at(source: Source, scope: Scope, node: str) -> bool:
    """Whether nothing is done with the node that could give its readers another one."""
    allowed: set[int] = set()
    for each in source.own(scope):
        called = called_method(each)
        if isinstance(each, ast.Attribute) and each.attr in _HARMLESS:
            allowed.add(id(each.value))
        elif called and called[1] in ("inserting_after", "inserting_before", "erase_node"):
            assert isinstance(each, ast.Call)
            allowed |= {id(argument) for argument in each.args}
    return all(
        id(each) in allowed or not isinstance(each.ctx, ast.Load)
        for each in source.own(scope)
        if isinstance(each, ast.Name) and each.id == node
    )


def _too_early(source: Source, erase: ast.stmt, replace: ast.stmt, node: str) -> Finding:
    swap = (
        Edit(source.place(erase), source.segment(replace)),
        Edit(source.place(replace), source.segment(erase)),
    )
    return Finding(
        source.place(erase),
        "erase-used",
        f"erase_node raises while other nodes read {node}: replace its uses first.",
        fix=Fix("Replace its uses first", swap),
    )


def _still_used(source: Source, erase: ast.stmt, node: str, new: str) -> Finding:
    text = f"{node}.replace_all_uses_with({new})\n{source.indent(erase)}"
    return Finding(
        source.place(erase),
        "erase-used",
        f"erase_node raises while other nodes read {node}, and nothing here makes them read "
        f"{new} in its place.",
        "warning",
        fix=Fix(f"Make its users read {new}", (Edit(source.place(erase).start(), text),)),
    )
