"""`env` read with a node's name: its keys are nodes."""

import ast
from collections.abc import Iterator

from fxdap.lsp.python.classes import InterpreterClass, InterpreterClasses
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Place, Source, is_name


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """`self.env["relu"]`, `self.env[n.name]`, unless the class keeps an env of its own."""
    for cls in classes.found.values():
        if cls.definition is not None and not _own_env(cls):
            yield from _reads(source, cls.definition, "self")
    for scope in source.scopes:
        variables = classes.variables(scope)
        for name, cls in variables.items():
            if not _own_env(cls):
                yield from _reads(source, scope, name)


def _own_env(cls: InterpreterClass) -> bool:
    """Whether the file replaces `env`, or stores by name in it."""
    if "env" in cls.methods or "env" in cls.attributes or not cls.closed:
        return True
    if cls.definition is not None:
        stored = [n for n in ast.walk(cls.definition) if _is_env(n) and not _is_read(n)]
        if any(_name_key(n) for n in stored if isinstance(n, ast.Subscript)):
            return True
    return cls.base is not None and _own_env(cls.base)


def _is_env(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "env"
    )


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)


def _name_key(node: ast.Subscript) -> bool:
    key = node.slice
    if isinstance(key, ast.Constant):
        return isinstance(key.value, str)
    if isinstance(key, ast.Call):
        return is_name(key.func, "str")
    return isinstance(key, (ast.JoinedStr,)) or (
        isinstance(key, ast.Attribute) and key.attr == "name"
    )


def _reads(source: Source, tree: ast.AST, owner: str) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Subscript) and _is_env(node) and _is_read(node)):
            continue
        assert isinstance(node.value, ast.Attribute)
        if is_name(node.value.value, owner) and _name_key(node):
            yield Finding(
                source.place(node.slice),
                "env-key",
                f"The keys of env are nodes, not names: {source.segment(node)} raises KeyError. "
                f"Use the Node itself.",
                fix=_fix(source, node.slice),
            )


def _fix(source: Source, key: ast.expr) -> Fix | None:
    if not (isinstance(key, ast.Attribute) and key.attr == "name"):
        return None
    end, whole = source.place(key.value), source.place(key)
    place = Place(end.end_line, end.end_column, whole.end_line, whole.end_column)
    return Fix("Use the node as the key", (Edit(place, ""),))
