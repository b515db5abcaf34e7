"""Inputs given to `Interpreter.run` by keyword."""

import ast
from collections.abc import Iterator

from fxdap.lsp.python.classes import InterpreterClass, InterpreterClasses
from fxdap.lsp.python.contracts import RUN_KEYWORDS
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Place, Source, called_method


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """`interpreter.run(x=...)`, and the same on a class that is called on the spot."""
    for scope in source.scopes:
        variables = classes.variables(scope)
        for node in source.own(scope):
            called = called_method(node)
            if called is None or called[1] != "run" or not isinstance(node, ast.Call):
                continue
            cls = _class_of(called[0], variables, classes)
            if cls is not None and cls.closed and cls.overrides("run") is None:
                yield from _keywords(source, node)


def _class_of(
    owner: ast.expr, variables: dict[str, InterpreterClass], classes: InterpreterClasses
) -> InterpreterClass | None:
    if isinstance(owner, ast.Name):
        return variables.get(owner.id)
    return classes.named(owner.func) if isinstance(owner, ast.Call) else None


def _keywords(source: Source, call: ast.Call) -> Iterator[Finding]:
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in RUN_KEYWORDS:
            continue
        value = source.place(keyword.value)
        place = Place(keyword.lineno - 1, source.column(keyword.lineno, keyword.col_offset),
                      value.line, value.column)  # fmt: skip
        alone = len(call.keywords) == 1
        yield Finding(
            place._replace(end_line=place.line, end_column=place.column + len(keyword.arg)),
            "run-keyword",
            f"Interpreter.run has no keyword {keyword.arg}: inputs are positional, in the order "
            f"of the graph's placeholders (keywords: initial_env, enable_io_processing).",
            fix=Fix("Pass it by position", (Edit(place, ""),)) if alone else None,
        )
