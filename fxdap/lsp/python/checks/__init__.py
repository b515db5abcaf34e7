"""The checks, one kind of fault per module. Each is quiet unless the text alone proves it."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from fxdap.lsp.python.checks import (
    endless_loops,
    env_names,
    erasing,
    missing_return,
    run_keywords,
    signatures,
    stale_code,
    unknown_methods,
)
from fxdap.lsp.python.classes import InterpreterClasses
from fxdap.lsp.python.findings import Finding
from fxdap.lsp.python.source import Source

Check: TypeAlias = Callable[[Source, InterpreterClasses], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    signatures.check,
    unknown_methods.check,
    missing_return.check,
    run_keywords.check,
    env_names.check,
    endless_loops.check,
    erasing.check,
    stale_code.check,
)
