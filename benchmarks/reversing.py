"""Going back: over every node of a model, in this process, and over a long chain by a client."""

from collections.abc import Iterable
from functools import partial
from time import perf_counter
from typing import Any

import torch

from benchmarks.latency import stopped_at
from benchmarks.models import gpt12
from benchmarks.silent import Silent
from benchmarks.table import Row, milliseconds
from benchmarks.timing import median, ratios, spread, stopwatch
from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.debugger import Debugger, Options
from fxdap.engine.execute import execute
from fxdap.engine.frame import Frame
from fxdap.engine.locations import SelectorLocation
from fxdap.engine.moves import step_back
from fxdap.engine.plan import step_over
from fxdap.engine.selectors import parse_selector
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.graphs.runs import GraphRuns

ROUNDS = 9


class Walker(Silent):
    """At the last node: step back to the first and forward again, `ROUNDS` times.

    Per round it keeps the seconds that stepping back over all nodes took, and those of the nodes
    themselves.
    """

    def __init__(self) -> None:
        self.debugger = Debugger(self, Options(stop_on_entry=False))
        self.back: list[float] = []
        self.forward: list[float] = []
        self._began = 0.0

    def stopped(self, thread: DebugThread, stop: Stop) -> None:
        frame = thread.frames[-1]
        if frame.cursor == len(frame.program) - 1:
            if len(self.back) == ROUNDS:
                thread.resume()
                return
            self._began = perf_counter()
        if stop.title and frame.cursor == len(frame.program.placeholders):
            self.back.append(perf_counter() - self._began)
            self.forward.append(_forward_seconds(frame))
            thread.resume(step_over(frame))
        elif stop.title or frame.cursor == len(frame.program) - 1:
            thread.go_to(step_back(thread))
        else:
            thread.resume(step_over(frame))


def _forward_seconds(frame: Frame) -> float:
    """What the nodes take, one by one, as a step executes them."""
    program, registers = frame.program, list(frame.registers)
    began = perf_counter()
    for index in range(frame.cursor, len(program) - 1):
        registers[index] = execute(program, index, registers)
    return perf_counter() - began


def model() -> Iterable[Row]:
    """`step_back_gpt12`: stepping back over all nodes, to running them."""
    module, inputs = gpt12()
    walker = Walker()
    runs = GraphRuns(walker.debugger)
    location = SelectorLocation(parse_selector("output"))
    walker.debugger.breakpoints.replace("bench", [Breakpoint(id=1, location=location)])
    runs.install()
    try:
        with torch.no_grad():
            module(*inputs)
    finally:
        runs.uninstall()
        walker.debugger.end()
    shares = ratios(walker.back, walker.forward)
    count = len(module.graph.nodes)
    yield Row(
        name="step_back_gpt12",
        value=median(shares),
        unit="x",
        bar=2.0,
        spread=spread(shares),
        note=f"{median(walker.back) / count * 1e6:.0f} us a step, over {count} nodes",
    )


def chain() -> Iterable[Row]:
    """`reverse_continue_1k`: from the end of 1000 nodes to a breakpoint at their beginning."""
    times: list[float] = []
    with stopped_at("chain", "neg_249") as session:
        breakpoints: Any = {"breakpoints": [{"name": "neg"}, {"name": "neg_249"}]}
        session.client.request("setFunctionBreakpoints", breakpoints)
        for _ in range(40):
            times.append(stopwatch(partial(_reverse, session)))
            session.resume()
            session.wait_stopped()
    yield milliseconds("reverse_continue_1k", times)


def _reverse(session: Any) -> None:
    session.client.request("reverseContinue", {"threadId": session.thread})
    session.wait_stopped()
