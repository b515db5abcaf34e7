"""Lines of Python source and the nodes at which a breakpoint on them stops."""

import ast
import os
import weakref
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from torch.fx import Node

from fxdap.engine.program import Program
from fxdap.view.scope import ModuleScope, module_scopes
from fxdap.view.source import SourceFrame, user_frames

LineStops = dict[tuple[str, int], list[int]]

_cache: "weakref.WeakKeyDictionary[Program, LineStops]" = weakref.WeakKeyDictionary()


def stops_by_line(program: Program) -> LineStops:
    """For each (file, line) of user source, the first node of every run of that line.

    A line of an outer function counts too: it stops before the first node of what it calls.
    """
    found = _cache.get(program)
    if found is None:
        found = _cache[program] = _collect(program.nodes)
    return found


def _collect(nodes: Sequence[Node]) -> LineStops:
    stops: LineStops = {}
    previous: tuple[SourceFrame, ...] = ()
    around: tuple[ModuleScope, ...] = ()
    for index, node in enumerate(nodes):
        if node.op == "placeholder":
            # Compilers stamp inputs with the line that first reads them, or once computed them.
            continue
        frames, scopes = user_frames(node), module_scopes(node)
        shared = _shared_depth(previous, frames)
        for depth, frame in enumerate(frames):
            if depth >= shared or _called_again(around, scopes, depth):
                stops.setdefault((real_path(frame.file), frame.line), []).append(index)
        if frames:
            previous, around = frames, scopes
    return stops


def _shared_depth(left: tuple[SourceFrame, ...], right: tuple[SourceFrame, ...]) -> int:
    depth = 0
    for a, b in zip(left, right, strict=False):
        if (a.file, a.line, a.function) != (b.file, b.line, b.function):
            break
        depth += 1
    return depth


def _called_again(
    before: tuple[ModuleScope, ...], now: tuple[ModuleScope, ...], depth: int
) -> bool:
    """A loop over like modules of the user: the same line calls the next of them."""
    if depth >= len(before) or depth >= len(now):
        return False
    left, right = before[depth], now[depth]
    alike = left.qualified_class == right.qualified_class
    again = (left.path, left.call) != (right.path, right.call)
    return again and alike and not right.qualified_class.startswith("torch.")


def enclosing_function(file: str, line: int) -> tuple[int, int] | None:
    """First and last line of the innermost function around a line; None outside of any."""
    around = [(first, last) for first, last in _functions(file) if first <= line <= last]
    return max(around, default=None)


@lru_cache(maxsize=256)
def _functions(file: str) -> tuple[tuple[int, int], ...]:
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, ValueError, SyntaxError):
        return ()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    )


@lru_cache(maxsize=4096)
def real_path(path: str) -> str:
    """The path without links, so that two spellings of one file are equal."""
    return os.path.normcase(os.path.realpath(path))
