"""Whether a block of Python can be left at its end."""

import ast
from collections.abc import Sequence


def falls_through(block: Sequence[ast.stmt]) -> bool:
    """Whether execution can get past the block's last statement. True when it cannot be told."""
    return all(_passes(statement) for statement in block)


def _passes(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return False
    if isinstance(statement, ast.If):
        return falls_through(statement.body) or falls_through(statement.orelse)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return falls_through(statement.body)
    if isinstance(statement, ast.While):
        return not _is_true(statement.test) or any(_breaks(s) for s in statement.body)
    if isinstance(statement, ast.Try):
        return _passes_try(statement)
    if isinstance(statement, ast.Match):
        exhaustive = any(_takes_all(case) for case in statement.cases)
        return not exhaustive or any(falls_through(case.body) for case in statement.cases)
    if isinstance(statement, ast.Assert):
        return not (isinstance(statement.test, ast.Constant) and not statement.test.value)
    return not _never_returns(statement)


def _passes_try(statement: ast.Try) -> bool:
    if statement.finalbody and not falls_through(statement.finalbody):
        return False
    main = falls_through([*statement.body, *statement.orelse])
    return main or any(falls_through(handler.body) for handler in statement.handlers)


def _takes_all(case: ast.match_case) -> bool:
    pattern = case.pattern
    return case.guard is None and isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _breaks(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
        return False
    return isinstance(statement, ast.Break) or any(
        _breaks(child) for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)
    )


def _never_returns(statement: ast.stmt) -> bool:
    """Calls that are known to raise: `sys.exit()`, `self.fail(...)`, `assert_never(...)`."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    function = statement.value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("exit", "fail", "assert_never", "unimplemented", "_fail", "abort", "error")
