"""Classes that derive from torch's or fxdap's Interpreter, and variables that hold one."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from fxdap.lsp.python.contracts import (
    ATTRIBUTES,
    FXDAP_METHODS,
    METHODS,
    TRANSFORMER_METHODS,
    Contract,
)
from fxdap.lsp.python.source import Function, Scope, Source

_BASES = {
    "torch.fx.Interpreter": "Interpreter",
    "torch.fx.interpreter.Interpreter": "Interpreter",
    "torch.fx.Transformer": "Transformer",
    "torch.fx.interpreter.Transformer": "Transformer",
    "fxdap.Interpreter": "fxdap.Interpreter",
}


@dataclass
class InterpreterClass:
    """A class that is an Interpreter: torch's, fxdap's, or one of the file's own.

    `closed` means that every base is known, so that a method which is not here does not exist.
    """

    name: str
    kind: str
    closed: bool
    definition: ast.ClassDef | None = None
    methods: dict[str, Function] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    base: "InterpreterClass | None" = None

    @property
    def contracts(self) -> dict[str, Contract]:
        """The methods that torch, or fxdap, gives it."""
        added = {"Transformer": TRANSFORMER_METHODS, "fxdap.Interpreter": FXDAP_METHODS}
        return METHODS | added.get(self.kind, {})

    def knows(self, name: str) -> bool:
        """Whether instances have this attribute, as far as the file tells."""
        if name in self.methods or name in self.attributes:
            return True
        if self.base is not None:
            return self.base.knows(name)
        return name in self.contracts or name in ATTRIBUTES or name.startswith("_")

    def overrides(self, name: str) -> Function | None:
        """The method of the file that replaces torch's."""
        own = self.methods.get(name)
        return own or (self.base.overrides(name) if self.base is not None else None)


class InterpreterClasses:
    """All of a file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.found: dict[str, InterpreterClass] = {}
        for node in source.nodes:
            if isinstance(node, ast.ClassDef):
                self._add(node)
        self._variables: dict[Scope, dict[str, InterpreterClass]] = {}
        self._makes_one = any(
            isinstance(node, ast.Call) and self.named(node.func) is not None
            for node in source.nodes
        )

    def named(self, expression: ast.AST) -> InterpreterClass | None:
        """The Interpreter class that an expression names."""
        if isinstance(expression, ast.Name) and expression.id in self.found:
            return self.found[expression.id]
        kind = _BASES.get(self._source.qualified(expression) or "")
        return InterpreterClass(kind, kind, closed=True) if kind else None

    def variables(self, scope: Scope) -> dict[str, InterpreterClass]:
        """Variables that hold an interpreter made in this scope, and nothing else ever."""
        if not self._makes_one:
            return {}
        known = self._variables.get(scope)
        if known is None:
            known = self._variables[scope] = _variables(self._source, scope, self)
        return known

    def subclasses(self, parent: InterpreterClass) -> Iterator[InterpreterClass]:
        """Classes of the file that derive from one, at any depth."""
        for each in self.found.values():
            base = each.base
            while base is not None and base is not parent:
                base = base.base
            if base is parent:
                yield each

    def _add(self, definition: ast.ClassDef) -> None:
        bases = [self.named(base) for base in definition.bases]
        base = next((b for b in bases if b is not None), None)
        if base is None:
            return
        closed = base.closed and len(bases) == 1 and not definition.decorator_list
        made = InterpreterClass(definition.name, base.kind, closed, definition, base=base)
        for statement in definition.body:
            _take(statement, made)
        self.found[definition.name] = made


def _take(statement: ast.stmt, made: InterpreterClass) -> None:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        made.methods[statement.name] = statement
        made.attributes |= set(_assigned_on_self(statement))
        if statement.name in ("__getattr__", "__getattribute__"):
            made.closed = False
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        made.attributes |= {t.id for t in targets if isinstance(t, ast.Name)}
    elif not isinstance(statement, (ast.Expr, ast.Pass)):
        made.closed = False


def _assigned_on_self(function: Function) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _variables(
    source: Source, scope: Scope, classes: InterpreterClasses
) -> dict[str, InterpreterClass]:
    stores: Counter[str] = Counter()
    made: dict[str, InterpreterClass] = {}
    if not isinstance(scope, ast.Module):
        stores.update(a.arg for a in ast.walk(scope.args) if isinstance(a, ast.arg))
    for node in source.own(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores[node.id] += 1
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            found = classes.named(node.value.func)
            if found is not None and isinstance(node.targets[0], ast.Name):
                made[node.targets[0].id] = found
    return {name: found for name, found in made.items() if stores[name] == 1}
