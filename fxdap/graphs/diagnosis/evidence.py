"""What an error leaves behind: its traceback with locals, the interpreter, the node, the values."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

import torch
from torch.fx import Graph, Interpreter, Node

from fxdap.engine.frame import Frame, ValueUnavailableError
from fxdap.engine.program import RELEASED, Program
from fxdap.graphs.naming import graph_title


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, what to do about it, and the node that it is about."""

    cause: str
    cure: str
    node: str | None = None

    def __str__(self) -> str:
        return f"{self.cause}\nCure: {self.cure}"


@dataclass(frozen=True)
class Call:
    """One call in a traceback, and the line it stood at."""

    frame: FrameType
    line: int

    @property
    def code(self) -> CodeType:
        return self.frame.f_code

    @property
    def locals(self) -> dict[str, Any]:
        return self.frame.f_locals

    @property
    def source(self) -> str:
        """The text of the line."""
        return linecache.getline(self.code.co_filename, self.line).strip()


@dataclass(frozen=True)
class Evidence:
    """An error with everything that can be known about it. `calls` are outermost first."""

    error: BaseException
    calls: tuple[Call, ...]
    interpreter: Interpreter | None
    frame: Frame | None
    node: Node | None

    @property
    def graph(self) -> Graph | None:
        """The graph that was run."""
        if self.interpreter is not None:
            return self.interpreter.graph
        return self.frame.program.graph if self.frame is not None else None

    @property
    def module(self) -> torch.nn.Module | None:
        """The module that was run."""
        if self.interpreter is not None:
            return self.interpreter.module
        return self.frame.program.module if self.frame is not None else None

    @property
    def last(self) -> Call | None:
        """The call that raised."""
        return self.calls[-1] if self.calls else None

    @property
    def class_name(self) -> str:
        """The name of the interpreter's class."""
        return type(self.interpreter).__name__

    def call_of(self, function: Callable[..., Any]) -> Call | None:
        """The innermost call of a function in the traceback."""
        code = code_of(function)
        return next((c for c in reversed(self.calls) if c.code is code), None)

    def after(self, call: Call) -> tuple[Call, ...]:
        """The calls inside of `call`."""
        return self.calls[self.calls.index(call) + 1 :]

    def value(self, node: Node) -> Any:
        """A node's value when the error was raised; `RELEASED` when there is none."""
        if self.frame is not None and node in self.frame.program.index:
            try:
                return self.frame.value(self.frame.program.index[node])
            except ValueUnavailableError:
                return RELEASED
        if self.interpreter is not None and isinstance(self.interpreter.env, dict):
            return self.interpreter.env.get(node, RELEASED)
        return RELEASED

    def index(self, node: Node) -> int | None:
        """A node's place in the graph."""
        return next((i for i, n in enumerate(self.graph.nodes) if n is node), None)  # type: ignore[union-attr]

    @cached_property
    def program(self) -> Program | None:
        """The graph as its listing numbers it."""
        if self.frame is not None:
            return self.frame.program
        if self.graph is None or self.module is None:
            return None
        return Program(self.module, self.graph, graph_title(self.module))

    def place(self, node: Node) -> str:
        """A node with its line in the listing: `%add (line 5)`."""
        return f"%{node.name}" if self.program is None else place_in(self.program, node)


def evidence_of(error: BaseException, where: Frame | Interpreter | None) -> Evidence:
    """Gather what an error's traceback and the place it stopped at tell."""
    calls = tuple(_calls(error))
    frame = where if isinstance(where, Frame) else None
    interpreter = where if isinstance(where, Interpreter) else None
    if frame is not None:
        interpreter = frame.interpreter
    elif interpreter is None:
        interpreter = _interpreter_in(calls)
    node = frame.node if frame is not None else _node_in(calls, interpreter)
    return Evidence(error, calls, interpreter, frame, node)


def _calls(error: BaseException) -> Iterator[Call]:
    traceback = error.__traceback__
    while traceback is not None:
        yield Call(traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next


def _interpreter_in(calls: tuple[Call, ...]) -> Interpreter | None:
    for call in reversed(calls):
        found = call.locals.get("self")
        # One whose __init__ failed has no graph to speak of.
        if isinstance(found, Interpreter) and "graph" in vars(found):
            return found
    return None


def _node_in(calls: tuple[Call, ...], interpreter: Interpreter | None) -> Node | None:
    """The node that the interpreter's own `run_node` was given."""
    for call in reversed(calls):
        if call.code.co_name == "run_node" and call.locals.get("self") is interpreter:
            found = call.locals.get(call.code.co_varnames[1])
            return found if isinstance(found, Node) else None
    return None


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """The code of a function, through the debugger's and other well-behaved wrappers."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return getattr(function, "__code__", None)


def place_in(program: Program, node: Node) -> str:
    """A node of a program with its line in the listing."""
    index = program.index.get(node)
    return f"%{node.name}" if index is None else f"%{node.name} (line {program.line(index)})"


def is_overridden(interpreter: Interpreter, name: str) -> bool:
    """Whether a method is the user's own: neither torch's nor that of fxdap.Interpreter."""
    function = getattr(type(interpreter), name)
    return str(function.__module__).partition(".")[0] not in ("torch", "fxdap")
