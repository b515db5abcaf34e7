"""Calls of methods that Interpreter does not have."""

import ast
import re
from collections.abc import Iterator
from difflib import get_close_matches

from fxdap.lsp.python.checks.signatures import ours_as_base
from fxdap.lsp.python.classes import InterpreterClass, InterpreterClasses
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Place, Source, called_method, is_name

_HOOK = re.compile(r"(register|add|remove)_\w*hook$")
_SURE = 0.8
"""How alike a name on `self` must be to one of torch's: a subclass elsewhere may define others."""


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """`self.NAME(...)`, `super().NAME(...)` in a class, `variable.NAME(...)` where it was made."""
    for cls in classes.found.values():
        if cls.closed and cls.definition is not None:
            yield from _in_class(source, cls, classes)
    for scope in source.scopes:
        variables = classes.variables(scope)
        for node in ast.walk(scope) if variables else ():
            method = called_method(node)
            if method and isinstance(method[0], ast.Name) and method[0].id in variables:
                cls = variables[method[0].id]
                if cls.closed and not cls.knows(method[1]) and not _is_set(scope, method):
                    yield _finding(source, node, cls, method[1])


def _in_class(
    source: Source, cls: InterpreterClass, classes: InterpreterClasses
) -> Iterator[Finding]:
    relatives = list(classes.subclasses(cls))
    for node in ast.walk(cls.definition) if cls.definition is not None else ():
        method = called_method(node)
        if method is None or cls.knows(method[1]):
            continue
        owner, name = method
        on_super = isinstance(owner, ast.Call) and is_name(owner.func, "super")
        if on_super or (
            is_name(owner, "self")
            and not any(each.knows(name) for each in relatives)
            and (_HOOK.match(name) or _near(cls, name, _SURE))
        ):
            yield _finding(source, node, cls, name)


def _is_set(scope: ast.AST, method: tuple[ast.expr, str]) -> bool:
    """Whether the scope gives the object that attribute itself."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == method[1]
        and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(scope)
    )


def _near(cls: InterpreterClass, name: str, cutoff: float) -> str | None:
    found = get_close_matches(name, list(cls.contracts), n=1, cutoff=cutoff)
    return found[0] if found else None


def _finding(source: Source, call: ast.AST, cls: InterpreterClass, name: str) -> Finding:
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    whole = source.place(call.func)
    place = Place(whole.end_line, whole.end_column - len(name), whole.end_line, whole.end_column)
    near = _near(cls, name, 0.7)
    kind = "fxdap.Interpreter" if cls.kind.startswith("fxdap") else f"torch.fx.{cls.kind}"
    if _HOOK.match(name):
        cure = "override run_node, or derive from fxdap.Interpreter, which has hooks"
        fix = _to_ours(source, cls)
    elif near:
        cure, fix = f"the nearest method is {near}", Fix(f"Call {near}", (Edit(place, near),))
    else:
        cure, fix = f"it has {', '.join(list(cls.contracts)[:3])} and others", None
    return Finding(place, "unknown-method", f"{kind} has no method {name}: {cure}.", fix=fix)


def _to_ours(source: Source, cls: InterpreterClass) -> Fix | None:
    while cls.base is not None and cls.base.definition is not None:
        cls = cls.base
    return ours_as_base(source, cls.definition) if cls.definition is not None else None
