"""What `fxdap.Interpreter` costs beside torch's own."""

from collections.abc import Iterable

import torch
from torch import fx

from benchmarks.models import chain
from benchmarks.table import Row
from benchmarks.timing import interleave, median, ratios, spread

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
