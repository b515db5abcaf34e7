"""What is told about an exception that a node raised."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType

from torch.fx import graph_module

from fxdap.engine.frame import Frame
from fxdap.server.node_scope import argument_items
from fxdap.view.node_text import node_line
from fxdap.view.source import user_line
from fxdap.view.summary import summarize

_OWN = str(Path(__file__).parents[1])
_RUNNERS = ("<frozen runpy>", "<frozen importlib._bootstrap>", graph_module.__file__)


def node_report(frame: Frame) -> str:
    """The node with its arguments' shapes and the line of the user's source it came from."""
    lines = [f"at {node_line(frame.node)}"]
    for item in argument_items(frame):
        text = item.text if item.text is not None else summarize(item.value)
        lines.append(f"  {item.name} = {text}")
    where = user_line(frame.node)
    if where is not None:
        lines.append(f"  from {where.file}:{where.line}  {where.code}".rstrip())
    return "\n".join(lines)


def user_traceback(error: BaseException, raised_in: FrameType | None = None) -> str:
    """The traceback as the user would see it, without our own frames and those that call a graph.

    `raised_in` is a frame of the thread where the error is still on its way up: what called it
    is not in its traceback yet.
    """
    report = traceback.TracebackException.from_exception(error)
    if raised_in is not None:
        callers = traceback.StackSummary.extract(traceback.walk_stack(raised_in))
        report.stack = traceback.StackSummary.from_list([*reversed(callers), *report.stack])
    _clean(report, set())
    alone = report.__cause__ is None and report.__context__ is None
    lines = report.format() if report.stack or not alone else report.format_exception_only()
    return "".join(lines)


def _clean(report: traceback.TracebackException | None, seen: set[int]) -> None:
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    kept = [f for f in report.stack if not (f.filename.startswith((_OWN, *_RUNNERS)))]
    report.stack = traceback.StackSummary.from_list(kept)
    _clean(report.__cause__, seen)
    _clean(report.__context__, seen)
