"""The values that a slice reads, and what its last node gave, from a run or a stopped frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Interpreter, Node

from fxdap.engine.execute import fetch_attribute
from fxdap.engine.frame import Frame, ValueUnavailableError
from fxdap.graphs.inputs import Binder
from fxdap.graphs.repro.errors import ReproError
from fxdap.graphs.repro.literals import Literals
from fxdap.graphs.repro.randomness import draws_random
from fxdap.graphs.repro.slices import Slice, slice_of
from fxdap.graphs.target import Target
from fxdap.view.summary import error_text, summarize


@dataclass(frozen=True)
class Recording:
    """A slice with its inputs already written as Python, since later nodes may write into them.

    `modules` are those that its nodes call, `random` the random state at its begin if it matters.
    """

    slice: Slice
    title: str
    literals: Literals
    inputs: dict[Node, str]
    modules: dict[Node, str]
    seen: str
    grad: bool
    random: str | None


def record_run(target: Target, at: str, starts: Sequence[str]) -> Recording:
    """Run a target up to node `at`, taking down what the slice reads when it is first read."""
    chosen = slice_of(target.module.graph, at, starts)
    args, kwargs = target.require_inputs()
    runner = Interpreter(target.module, garbage_collect_values=False)
    flat = args if target.compiled is not None else Binder(target.module).placeholders(args, kwargs)
    runner.args_iter = iter(flat)
    taker = _Taker(chosen, target.module)
    for node in target.module.graph.nodes:
        if node in chosen.nodes:
            taker.take(node, runner.env.__getitem__)
        try:
            runner.env[node] = runner.run_node(node)
        except Exception as error:
            if node is chosen.at:
                return taker.recording(target.name, error_text(error))
            raise ReproError(
                f"%{node.name} raises before %{at} is reached: {error_text(error)}; "
                f"try --at {node.name}"
            ) from error
        if node is chosen.at:
            break
    return taker.recording(target.name, summarize(runner.env[chosen.at]))


def record_frame(frame: Frame, at: str | None, starts: Sequence[str]) -> Recording:
    """Take down what a stopped frame holds now; by default for the node it stands at."""
    program = frame.program
    chosen = slice_of(program.graph, at or frame.node.name, starts)
    taker = _Taker(chosen, program.module)
    try:
        for node in chosen.nodes:
            taker.take(node, lambda source: frame.value(program.index[source]))
    except ValueUnavailableError as error:
        raise ReproError(str(error)) from None
    if frame.position != program.index[chosen.nodes[0]] or frame.phase != "before":
        # The random state has moved on since.
        taker.random = None
    return taker.recording(program.name, _seen(frame, chosen.at))


def _seen(frame: Frame, at: Node) -> str:
    error = frame.thread.failure
    if at is frame.node and frame.phase == "raised" and error is not None:
        return error_text(error)
    try:
        return summarize(frame.value(frame.program.index[at]))
    except ValueUnavailableError:
        return "not run yet"


class _Taker:
    """Writes down what the nodes of a slice read, when they are about to run."""

    def __init__(self, chosen: Slice, module: torch.nn.Module) -> None:
        self._slice = chosen
        self._module = module
        self._literals = Literals()
        self._inputs: dict[Node, str] = {}
        self._modules: dict[Node, str] = {}
        self._grad = torch.is_grad_enabled()
        self.random: str | None = None

    def take(self, node: Node, value_of: Callable[[Node], Any]) -> None:
        if node is self._slice.nodes[0] and draws_random(self._module, self._slice.nodes):
            self.random = self._literals.of(torch.get_rng_state())
        for source in node.all_input_nodes:
            if source in self._slice.inputs and source not in self._inputs:
                self._inputs[source] = self._literals.named(source.name, value_of(source))
        if node.op in ("call_module", "get_attr"):
            value = fetch_attribute(self._module, str(node.target))
            self._modules[node] = self._literals.named(node.name, value)

    def recording(self, title: str, seen: str) -> Recording:
        return Recording(
            self._slice,
            title,
            self._literals,
            self._inputs,
            self._modules,
            seen,
            self._grad,
            self.random,
        )
