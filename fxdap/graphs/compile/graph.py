"""One graph that Dynamo or AOT autograd made, as a function to be called in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakSet

import torch
from torch.fx import Graph, GraphModule

from fxdap.engine.debugger import Debugger
from fxdap.engine.program import Program
from fxdap.graphs.compile.active import ACTIVE
from fxdap.graphs.dynamo import skip
from fxdap.graphs.origin import is_ghost

_alive: WeakSet[CompiledGraph] = WeakSet()


class CompiledGraph:
    """Runs under the debugger that is attached when it is called, else as torch generated it.

    Nothing stops while it is made: torch.compile holds a lock of the whole process then.
    """

    def __init__(self, module: GraphModule, title: str, *, script_prefix: bool = True) -> None:
        self.module = module
        self.title = title
        self._native: Callable[..., Any] = module.forward
        self._script_prefix = script_prefix
        self._owns_inputs = False
        self._met = 0
        self.relatives: list[CompiledGraph] = []
        """The forward and the backward of one function."""
        _alive.add(self)

    def program(self, debugger: Debugger) -> Program:
        """The graph's program in a session."""
        script = debugger.options.script if self._script_prefix else ""
        name = f"{script}.{self.title}" if script else self.title
        module = self.module
        return debugger.program_for(module, module.graph, self, name, self._make)

    def _make(self, module: torch.nn.Module, graph: Graph, name: str) -> Program:
        family = ACTIVE.family
        family.append(Program(module, graph, name, owns_inputs=self._owns_inputs, family=family))
        return family[-1]

    def run(self, debugger: Debugger, inputs: Iterable[Any]) -> Any:
        """Debug one call. The first one in a session makes the backward known too."""
        if self._met != ACTIVE.sessions:
            self._met = ACTIVE.sessions
            for each in (self, *self.relatives):
                each.program(debugger)
        return debugger.run_program(self.program(debugger), inputs)

    def unboxed(self) -> Callable[..., Any]:
        """What Dynamo calls: the inputs are the arguments."""
        native = self._native

        def call(*inputs: Any) -> Any:
            debugger = ACTIVE.debugger
            if debugger is None or is_ghost(inputs):
                return native(*inputs)
            return self.run(debugger, inputs)

        skip(call, below=True)
        return call

    def boxed(self) -> Callable[..., Any]:
        """What AOT autograd calls: the inputs are one list, which the callee empties."""
        native = self._native
        self._owns_inputs = True

        def call(inputs: list[Any]) -> Any:
            debugger = ACTIVE.debugger
            if debugger is None or is_ghost(inputs):
                return native(inputs)
            return self.run(debugger, _taken(inputs))

        skip(call, below=True)
        call._boxed_call = True  # type: ignore[attr-defined]
        return call


def _taken(inputs: list[Any]) -> Iterator[Any]:
    """The inputs in order, taken out of the list."""
    inputs.reverse()
    while inputs:
        yield inputs.pop()


def known_graphs() -> list[CompiledGraph]:
    """The graphs compiled so far that can still be called."""
    return sorted(_alive, key=lambda graph: graph.title)
