"""The same events of a run, made afresh without the debugger's engine: what walks compare with."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from fxdap.engine.execute import execute, fetch
from fxdap.engine.frame import Frame
from fxdap.engine.program import SKIPPED, Program

Change = Callable[[Program, list[Any]], None]
"""Makes an edit in a module and in the registers of a run of it."""


@dataclass
class Level:
    """What one graph's run has been through: nodes run, values edited, nodes jumped over.

    A node that ran a graph in which something was edited has that graph's level in its event.
    """

    frame: Frame
    events: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def program(self) -> Program:
        return self.frame.program

    @property
    def cursor(self) -> int:
        ran = [e for e in self.events if e[0] != "edit"]
        return 0 if not ran else ran[-1][2]

    def catch_up(self, cursor: int) -> None:
        self.events += [("run", i, i + 1, None) for i in range(self.cursor, cursor)]

    def ended(self, inner: Level) -> None:
        """The node that was running called a graph, which is over."""
        inner.catch_up(len(inner.program))
        self.events.append(("run", self.cursor, self.cursor + 1, inner))

    def jumped(self) -> bool:
        return any(
            e[0] == "jump" or (e[0] == "run" and e[3] and e[3].jumped()) for e in self.events
        )

    def back_to(self, cursor: int) -> None:
        while self.cursor > cursor:
            self.events.pop()


class Oracle:
    """Runs the same events afresh, without the debugger's engine."""

    def __init__(self, module: fx.GraphModule, inputs: tuple[torch.Tensor, ...]) -> None:
        self._module = copy.deepcopy(module)
        self._buffers = [
            {name: b.clone() for name, b in m._buffers.items() if b is not None}
            for m in self._module.modules()
        ]
        self._parameters = [p.detach().clone() for p in module.parameters()]
        self._inputs = tuple(value.clone() for value in inputs)
        self.random = torch.get_rng_state()
        self._programs: dict[Any, Program] = {}

    def reset(self, module: fx.GraphModule) -> None:
        """Parameters and buffers as they were at first."""
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), self._parameters, strict=True):
                parameter.copy_(value)
        for inner, buffers in zip(module.modules(), self._buffers, strict=True):
            inner._buffers.update({name: b.clone() for name, b in buffers.items()})

    def run(self, levels: list[Level]) -> tuple[fx.GraphModule, list[list[Any]]]:
        self.reset(self._module)
        torch.set_rng_state(self.random)
        inputs = tuple(value.clone() for value in self._inputs)
        registers: list[list[Any]] = []
        current: Any = self._module
        for level in levels:
            program = self._program(current)
            registers.append(self._replay(program, level, inputs))
            if level is not levels[-1]:
                current, inputs = _call(program, level.cursor, registers[-1])
        return self._module, registers

    def _program(self, module: Any) -> Program:
        if module not in self._programs:
            self._programs[module] = Program(module, module.graph, "oracle")
        return self._programs[module]

    def _replay(self, program: Program, level: Level, inputs: tuple[Any, ...]) -> list[Any]:
        registers: list[Any] = [None] * len(program)
        for index, value in zip(program.placeholders, inputs, strict=True):
            registers[index] = value
        for kind, *event in level.events:
            if kind == "run":
                registers[event[0]] = self._run_node(program, event[0], registers, event[2])
            elif kind == "jump":
                for index in range(event[0], event[1]):
                    if program.steps[index].op != "placeholder":
                        registers[index] = SKIPPED
            else:
                event[0](program, registers)
        return registers

    def _run_node(
        self, program: Program, index: int, registers: list[Any], inner: Level | None
    ) -> Any:
        if inner is None:
            return execute(program, index, registers)
        module, inputs = _call(program, index, registers)
        return self._replay(self._program(module), inner, inputs)[-1]


def _call(program: Program, index: int, registers: list[Any]) -> tuple[Any, tuple[Any, ...]]:
    """The graph module that a node calls, and its inputs."""
    module: Any = program.module
    node = program.nodes[index]
    return module.get_submodule(str(node.target)), fetch(node.args, program, registers)
