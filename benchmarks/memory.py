"""What the debugger keeps in memory, beside the values themselves."""

import tracemalloc
from collections.abc import Callable, Iterable

from benchmarks.models import chain_graph
from benchmarks.silent import Silent
from benchmarks.table import Row

NODES = 20_000


def overhead() -> Iterable[Row]:
    """Bytes per node of a program with its listing and compiled code, after three runs."""
    import torch

    from fxdap.engine.debugger import Debugger, Options
    from fxdap.graphs.runs import GraphRuns

    module, inputs = chain_graph(NODES), (torch.zeros(8),)
    module(*inputs)
    debugger = Debugger(Silent(), Options(stop_on_entry=False, just_my_code=False))
    runs = GraphRuns(debugger)
    runs.install()
    try:
        total = _grown(lambda: [runs.program(module).listing, *(module(*inputs) for _ in range(3))])
        registers = NODES * 9
    finally:
        runs.uninstall()
        debugger.end()
    yield Row(
        name="memory_overhead",
        value=total / NODES,
        unit="B/node",
        note=f"of it registers and flags {registers / NODES:.0f}",
    )


def _grown(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        kept = work()
        size, _ = tracemalloc.get_traced_memory()
        del kept
        return size
    finally:
        tracemalloc.stop()
