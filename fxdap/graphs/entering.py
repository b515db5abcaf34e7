"""What Step In on a node can enter, and the step that does it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import nn

from fxdap.engine.bodies import called_graphs, graphs_ahead
from fxdap.engine.execute import fetch_attribute
from fxdap.engine.frame import Frame
from fxdap.engine.plan import Plan, step_in
from fxdap.graphs.inputs import Binder

if TYPE_CHECKING:
    from fxdap.graphs.leaves import Traced


@dataclass(frozen=True)
class Body:
    """A graph to step into: one that the node calls, or a leaf module's, traced when entered."""

    module: nn.Module
    leaf: bool = False


def bodies(frame: Frame) -> list[tuple[str, Body]]:
    """The graphs that the node about to run was given, or its leaf module, by labels to show."""
    if frame.phase != "before":
        return []
    graphs = called_graphs(frame.program, frame.position)
    found = [(name, Body(module)) for name, module in graphs]
    leaf = _leaf(frame)
    if leaf is not None:
        found.append((f"{frame.node.target}  {type(leaf).__name__}, traced", Body(leaf, leaf=True)))
    return found


def step_in_targets(frame: Frame) -> list[tuple[str, Body]]:
    """Those of `bodies` that the node will call now. To be asked on the frame's thread."""
    ahead = [name for name, _ in graphs_ahead(frame)]
    return [(label, body) for label, body in bodies(frame) if body.leaf or label in ahead]


def _leaf(frame: Frame) -> nn.Module | None:
    """The module without a graph that the node about to run calls."""
    node = frame.node
    if frame.phase != "before" or node.op != "call_module":
        return None
    if called_graphs(frame.program, frame.position):
        return None
    try:
        module = fetch_attribute(frame.program.module, str(node.target))
    except AttributeError:
        return None
    return module if isinstance(module, nn.Module) else None


def enter(frame: Frame, body: Body | None = None) -> Plan:
    """The step into a body, by default the first that the node calls, else the node's leaf."""
    leaf = _leaf(frame) if body is None else body.module if body.leaf else None
    if leaf is not None:
        return EnterLeaf(frame, frame.position + 1, into=True, leaf=leaf)
    return step_in(frame, body.module if body is not None else None)


@dataclass
class EnterLeaf(Plan):
    """A step into a leaf module: traced when the step begins, and run as a graph for one call."""

    leaf: nn.Module | None = None
    _undo: Callable[[], None] | None = None

    def arm(self) -> None:
        """Trace the module first; where that fails, say why and step over it."""
        leaf, self.leaf = self.leaf, None
        if leaf is not None and self.frame is not None:
            self._undo = _prepare(self.frame, leaf)
        super().arm()

    def disarm(self) -> None:
        """Also when the module was not called."""
        if self._undo is not None:
            self._undo()
        super().disarm()


def _prepare(frame: Frame, leaf: nn.Module) -> Callable[[], None] | None:
    from fxdap.graphs.leaves import NotTraceableError, trace_call

    thread = frame.thread
    thread.evaluating += 1
    try:
        args, kwargs = _arguments(frame)
        traced = trace_call(leaf, args, kwargs)
    except NotTraceableError as error:
        thread.debugger.listener.noticed(_apology(frame, leaf, str(error)))
        return None
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        thread.debugger.listener.noticed(_apology(frame, leaf, why))
        return None
    finally:
        thread.evaluating -= 1
    return _run_once(frame, leaf, traced)


def _arguments(frame: Frame) -> tuple[tuple[Any, ...], dict[str, Any]]:
    node = frame.node
    args = tuple(frame.argument(value) for value in node.args)
    return args, {key: frame.argument(value) for key, value in node.kwargs.items()}


def _run_once(frame: Frame, leaf: nn.Module, traced: Traced) -> Callable[[], None]:
    """For the next call on this thread the module's forward is the graph.

    nn.Module finds `forward` on the instance first, so that its hooks run as ever. The entry is
    gone when the call begins.
    """
    debugger, owner = frame.thread.debugger, threading.get_ident()
    native: Any = leaf.forward
    replaced = leaf.__dict__.get("forward")
    name = f"{frame.program.root.name}.{frame.node.target}"
    program = debugger.program_for(traced.graph, traced.graph.graph, None, name)
    binder = Binder(traced.graph)

    def undo() -> None:
        if leaf.__dict__.get("forward") is forward:
            leaf.__dict__.pop("forward")
            if replaced is not None:
                leaf.__dict__["forward"] = replaced

    def forward(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != owner:
            return native(*args, **kwargs)
        undo()
        if debugger.ended:
            return native(*args, **kwargs)
        return binder.result(debugger.run_program(program, binder.placeholders(args, kwargs)))

    leaf.__dict__["forward"] = forward
    return undo


def _apology(frame: Frame, leaf: nn.Module, why: str) -> str:
    code = getattr(type(leaf).forward, "__code__", None)
    source = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "unknown"
    what = f"{frame.node.target} ({type(leaf).__name__})"
    return f"Step In cannot enter {what} as a graph: {why}; its Python source is {source}"
