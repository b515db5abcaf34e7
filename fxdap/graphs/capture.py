"""Making a GraphModule of a module or function: symbolic_trace or torch.export."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.proxy import TraceError

from fxdap.graphs.errors import TargetError
from fxdap.graphs.origin import is_librarys
from fxdap.graphs.tracer import trace_with_sources


@dataclass(frozen=True)
class Captured:
    """A graph ready to be called like the module it came from, and how it was captured."""

    module: GraphModule
    how: str


def capture(
    root: Callable[..., Any] | torch.nn.Module,
    args: tuple[Any, ...] | None,
    kwargs: dict[str, Any],
    mode: str,
) -> Captured:
    """Capture `root`. `auto` tries export, then symbolic_trace, and says which and why.

    TargetError tells why neither worked. Export needs inputs; symbolic_trace does not.
    """
    if mode == "symbolic_trace":
        return Captured(_symbolic(root), "symbolic_trace")
    if mode == "export":
        return Captured(_export(root, args, kwargs), "torch.export")
    if mode == "auto":
        return _auto(root, args, kwargs)
    raise ValueError(mode)


def _auto(root: Any, args: tuple[Any, ...] | None, kwargs: dict[str, Any]) -> Captured:
    if args is None:
        return Captured(_symbolic(root), "symbolic_trace (no inputs are known, export needs them)")
    try:
        return Captured(_export(root, args, kwargs), "torch.export")
    except Exception as export_error:
        why = first_line(export_error)
        try:
            traced = trace_with_sources(root)
        except Exception as trace_error:
            raise TargetError(
                "capture",
                "auto",
                "the model could not be captured",
                f"torch.export: {why}; symbolic_trace: {first_line(trace_error)}",
            ) from export_error
    return Captured(traced, f"symbolic_trace, as torch.export failed: {why}")


def _symbolic(root: Any) -> GraphModule:
    try:
        return trace_with_sources(root)
    except TraceError as error:
        raise TargetError(
            "capture",
            "symbolic_trace",
            f"{error}{_user_place(error)}",
            "Set capture to 'dynamo', which makes several graphs of it, or use torch.cond",
        ) from error


def _user_place(error: BaseException) -> str:
    """The last line of the user's code that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if not is_librarys(frame.filename)]
    return f", at {users[-1].filename}:{users[-1].lineno}  {users[-1].line}" if users else ""


def _export(root: Any, args: tuple[Any, ...] | None, kwargs: dict[str, Any]) -> GraphModule:
    if args is None:
        raise TargetError(
            "capture",
            "export",
            "torch.export needs example inputs",
            "Add `example_inputs` to the file (a tuple, or a function returning one), or `inputs`",
        )
    module = root if isinstance(root, torch.nn.Module) else _FunctionModule(root)
    return torch.export.export(module, args, kwargs).module()


class _FunctionModule(torch.nn.Module):
    """torch.export takes modules only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


def program_module(program: ExportedProgram) -> GraphModule:
    """The runnable module of an ExportedProgram; it shares the program's parameters."""
    module: GraphModule = program.module()
    return module


def first_line(error: BaseException) -> str:
    """The short form of an error for a message."""
    return traceback.format_exception_only(error)[0].strip().splitlines()[0]
