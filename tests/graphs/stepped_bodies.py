"""Running a graph with higher-order ops under the debugger, and comparing it with torch alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxdap.engine.frame import Frame
from tests.engine.driver import Driver, assert_same


@dataclass
class Bodies:
    """Compares each value of each graph that ran with what torch's own Interpreter gives."""

    compared: list[str] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)

    def at_stop(self, driver: Driver, thread: Any, stop: Any) -> None:
        frame = thread.frames[-1]
        if frame.phase == "after" and frame.node.op == "output":
            self._compare(frame)

    def _compare(self, frame: Frame) -> None:
        program = frame.program
        self.calls.append((program.path or program.name, frame.call))
        inputs = [frame.registers[index] for index in program.placeholders]
        frame.thread.evaluating += 1
        try:
            with torch.random.fork_rng(devices=[]):
                interpreter = fx.Interpreter(
                    program.module, garbage_collect_values=False, graph=program.graph
                )
                interpreter.run(*inputs, enable_io_processing=False)
        finally:
            frame.thread.evaluating -= 1
        for index, node in enumerate(program.nodes):
            place = program.qualified_name(index)
            assert_same(frame.registers[index], interpreter.env[node], place)
            self.compared.append(place)


def run(graph: Any, inputs: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The results of a graph and the gradients of its inputs, from one seed."""
    leaves = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad]
    for leaf in leaves:
        leaf.grad = None
    torch.manual_seed(5)
    results = [v for v in pytree.tree_leaves(graph(*inputs)) if isinstance(v, torch.Tensor)]
    differentiable = [r.float().sum() for r in results if r.requires_grad]
    if differentiable:
        torch.stack(differentiable).sum().backward()
    return [r.detach() for r in results], [leaf.grad for leaf in leaves]


def compare_with_torch(graph: fx.GraphModule, inputs: tuple[Any, ...]) -> Bodies:
    """Run under the debugger as it is, stopped after each graph, and stepped into everything.

    Results and gradients must be those of the graph alone.
    """
    plain = run(graph, inputs)
    bodies = Bodies()
    with Driver():
        for _ in range(3):
            assert_same(run(graph, inputs), plain)
    with Driver(at_stop=bodies.at_stop) as driver:
        driver.break_on("after:op:output")
        for _ in range(2):
            assert_same(run(graph, inputs), plain)
    stepped = Driver(entry=True)
    stepped.forever = "in"
    with stepped:
        assert_same(run(graph, inputs), plain)
    assert len(stepped.places) >= len(bodies.compared) / 2
    return bodies
