"""What bodies of higher-order ops cost when nothing is set in them: many calls of tiny graphs."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch._higher_order_ops import while_loop

from benchmarks.silent import Silent
from benchmarks.table import Row
from benchmarks.timing import median, ratios, spread, stopwatch, take_turns
from fxdap.engine.debugger import Debugger, Options
from fxdap.graphs.runs import GraphRuns

SECONDS = 8.0
ITERATIONS, CONDS = 300, 30


class Loop(nn.Module):
    """`ITERATIONS` times three tiny operations."""

    def forward(self, x: torch.Tensor) -> Any:
        def go_on(count: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return count < ITERATIONS

        def shrink(count: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return count + 1, x * 0.5 + 1

        repeat: Any = while_loop
        return repeat(go_on, shrink, (torch.zeros((), dtype=torch.int64), x))


class Branches(nn.Module):
    """`CONDS` times the one or the other of two tiny branches."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def grow(x: torch.Tensor) -> torch.Tensor:
            return torch.sin(x) + 1

        def shrink(x: torch.Tensor) -> torch.Tensor:
            return torch.cos(x) * 0.5

        for _ in range(CONDS):
            x = torch.cond(x.sum() > 0, grow, shrink, (x,))
        return x


def loop() -> Iterable[Row]:
    """`while_loop`: with every value kept and recorded, as is the default."""
    yield _row("while_loop", Loop())


def branches() -> Iterable[Row]:
    """`cond_bodies`: the same for many conds."""
    yield _row("cond_bodies", Branches())


def _row(name: str, model: nn.Module) -> Row:
    inputs = (torch.linspace(-1, 1, 8),)
    torch.set_num_threads(1)
    graph = torch.export.export(model, inputs).module()
    debugger = Debugger(Silent(), Options(stop_on_entry=False))
    runs = GraphRuns(debugger)

    def plain() -> float:
        graph(*inputs)
        return stopwatch(lambda: graph(*inputs))

    def debugged() -> float:
        runs.install()
        try:
            return plain()
        finally:
            runs.uninstall()

    contenders: dict[str, Callable[[], float]] = {"plain": plain, "fxdap": debugged}
    with torch.no_grad():
        times = take_turns(contenders, SECONDS)
    debugger.end()
    ours = ratios(times["fxdap"], times["plain"])
    return Row(
        name=name,
        value=median(ours),
        unit="x",
        spread=spread(ours),
        note=f"plain {median(times['plain']) * 1000:.3g} ms",
    )
