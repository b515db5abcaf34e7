"""Finding what can be debugged in Python source, without running it. Needs no torch."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

INPUTS = "example_inputs"


@dataclass(frozen=True, slots=True)
class PythonTarget:
    """A module class or factory that a launch configuration's `graph` may name."""

    name: str
    line: int
    kind: Literal["class", "function"]


def python_targets(source: str) -> list[PythonTarget]:
    """Module classes and factories of a file that also defines `example_inputs`.

    Quiet unless sure: all must be callable without arguments, and private names, tests and
    `main` are left out. Empty for text that is not Python.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError):
        return []
    if not any(_binds(statement, INPUTS) for statement in body):
        return []
    modules: set[str] = set()
    return [found for statement in body for found in _target(statement, modules)]


def _target(statement: ast.stmt, modules: set[str]) -> Iterator[PythonTarget]:
    if isinstance(statement, ast.ClassDef):
        if any(_is_module(base, modules) for base in statement.bases):
            modules.add(statement.name)
            if not statement.name.startswith("_") and _constructs_alone(statement):
                yield PythonTarget(statement.name, statement.lineno, "class")
    elif isinstance(statement, ast.FunctionDef) and _is_factory(statement):
        yield PythonTarget(statement.name, statement.lineno, "function")


def _is_module(base: ast.expr, modules: set[str]) -> bool:
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return name in ("Module", "PreTrainedModel") or name in modules


def _constructs_alone(cls: ast.ClassDef) -> bool:
    for statement in cls.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return _required(statement) == 1
    return True


def _is_factory(function: ast.FunctionDef) -> bool:
    name = function.name
    if name in (INPUTS, "main") or name.startswith(("_", "test")) or _required(function):
        return False
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(function))


def _required(function: ast.FunctionDef) -> int:
    """How many arguments a call must give."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional + sum(default is None for default in arguments.kw_defaults)


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return statement.name == name
    if isinstance(statement, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
    if isinstance(statement, ast.AnnAssign):
        return isinstance(statement.target, ast.Name) and statement.target.id == name
    return False
