"""Overrides that lose a node's value: a path without `return`, or an answer thrown away."""

import ast
from collections.abc import Iterator

from fxdap.lsp.python.classes import InterpreterClasses
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.flow import falls_through
from fxdap.lsp.python.source import Function, Place, Source, called_method, is_name

VALUES = {"run_node", "placeholder", "get_attr", "call_function", "call_method", "call_module"}
"""Methods whose answer is a node's value."""


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """Methods whose answer torch stores, that ask `super()` for it and drop it; and `run_node` with
    paths of both kinds. Others may mean it: a node run for its effect has no value.
    """
    for cls in classes.found.values():
        for name, method in cls.methods.items():
            if (
                name not in VALUES
                or not _must_return(source, method)
                or not falls_through(method.body)
            ):
                continue
            asked = _asks_super(method, name)
            if asked is not None or (name == "run_node" and _returns_value(source, method)):
                yield _finding(source, method, asked)


def _must_return(source: Source, method: Function) -> bool:
    generator = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in source.own(method))
    return not generator and not (method.returns is not None and _is_none(method.returns))


def _returns_value(source: Source, method: Function) -> bool:
    returns = [node for node in source.own(method) if isinstance(node, ast.Return)]
    return any(r.value is not None and not _is_none(r.value) for r in returns)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _asks_super(method: Function, name: str) -> ast.stmt | None:
    """The last statement of the body's own level that calls `super().NAME(...)`."""
    for statement in reversed(method.body):
        value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        called = called_method(value) if value is not None else None
        if called and called[1] == name and _is_super(called[0]):
            return statement
    return None


def _is_super(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Call) and is_name(owner.func, "super")


def _finding(source: Source, method: Function, asked: ast.stmt | None) -> Finding:
    text = (
        f"{method.name} does not return the value that super().{method.name} gave: the node's "
        f"value becomes None."
        if asked is not None and not _returns_value(source, method)
        else f"{method.name} returns a value on some paths only; on the others the node's value "
        f"becomes None."
    )
    return Finding(
        source.name_place(method), "missing-return", text, fix=_fix(source, asked, method)
    )


def _fix(source: Source, asked: ast.stmt | None, method: Function) -> Fix | None:
    if isinstance(asked, ast.Expr) and asked is method.body[-1]:
        return Fix("Return the value", (Edit(source.place(asked).start(), "return "),))
    if isinstance(asked, ast.Assign) and isinstance(asked.targets[0], ast.Name):
        end = source.place(method.body[-1])
        place = Place(end.end_line, end.end_column, end.end_line, end.end_column)
        text = f"\n{source.indent(method.body[-1])}return {asked.targets[0].id}"
        return Fix(f"Return {asked.targets[0].id}", (Edit(place, text),))
    return None
