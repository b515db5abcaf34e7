"""What Interpreters cost: fxdap's beside torch's, and a user's subclass when debugged."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import fx

from benchmarks.models import chain
from benchmarks.silent import Silent
from benchmarks.table import Row
from benchmarks.timing import interleave, median, ratios, spread, stopwatch, take_turns

SECONDS = 8.0


def interpreters() -> Iterable[Row]:
    """No hook set, and for comparison a hook on every node that does nothing."""
    from fxdap import Interpreter

    torch.set_num_threads(1)
    module, inputs = chain()
    plain, ours, hooked = fx.Interpreter(module), Interpreter(module), Interpreter(module)
    hooked.register_node_post_hook(lambda node, value: None)
    with torch.no_grad():
        times = interleave(
            {
                "torch": lambda: plain.run(*inputs),
                "fxdap": lambda: ours.run(*inputs),
                "hooked": lambda: hooked.run(*inputs),
            },
            SECONDS,
        )
    unhooked = ratios(times["fxdap"], times["torch"])
    with_hook = median(ratios(times["hooked"], times["torch"]))
    yield Row(
        name="interp_hooks",
        value=median(unhooked),
        unit="x",
        bar=1.0,
        spread=spread(unhooked),
        note=f"fx.Interpreter {median(times['torch']) * 1000:.3g} ms; one hook {with_hook:.3g} x",
    )


class Recorder(fx.Interpreter):
    """A user's subclass: keeps every value's shape."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.shapes: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        self.shapes[n.name] = getattr(value, "shape", None)
        return value


def subclass() -> Iterable[Row]:
    """A user's subclass with nothing set, beside the same one without a debugger."""
    from fxdap.engine.debugger import Debugger, Options
    from fxdap.graphs.runs import GraphRuns

    torch.set_num_threads(1)
    module, inputs = chain()
    recorder = Recorder(module)
    runs = GraphRuns(Debugger(Silent(), Options(stop_on_entry=False, just_my_code=False)))

    def bare() -> float:
        # Changing a class empties caches, which only the first run pays for.
        recorder.run(*inputs)
        return stopwatch(lambda: recorder.run(*inputs))

    def debugged() -> float:
        runs.install()
        try:
            return bare()
        finally:
            runs.uninstall()

    with torch.no_grad():
        times = take_turns({"bare": bare, "fxdap": debugged}, SECONDS)
    ours = ratios(times["fxdap"], times["bare"])
    note = f"without a debugger {median(times['bare']) * 1000:.3g} ms"
    yield Row(name="interp_subclass", value=median(ours), unit="x", spread=spread(ours), note=note)
