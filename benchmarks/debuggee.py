"""Runs inside the debuggee: `debuggee.py MODEL SECONDS RESULT [PEER...]` writes its times as JSON.

Under fxdap a call of the GraphModule is debugged and `forward` called directly is not, so that
both are measured in one process, in turn.
"""

import functools
import gc
import inspect
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import fx

from benchmarks.models import MODELS
from benchmarks.timing import interleave

Run = Callable[[], object]

TURN_S = 0.02
"""Seconds that each contender runs before it is the next one's turn."""


RUN = inspect.unwrap(fx.Interpreter.run)
RUN_NODE = inspect.unwrap(fx.Interpreter.run_node)
"""torch's own functions, even where a debugger has replaced them."""


def interpreter(module: fx.GraphModule, inputs: tuple[Any, ...]) -> Run:
    """torch's Interpreter."""
    return _subclass(RUN_NODE)(module, inputs)


def _subclass(run_node: Callable[[Any, fx.Node], Any]) -> Callable[..., Run]:
    """An Interpreter with that `run_node`, run as without a debugger."""

    def make(module: fx.GraphModule, inputs: tuple[Any, ...]) -> Run:
        plain: Any = fx.Interpreter(module)
        plain.run_node = functools.partial(run_node, plain)
        return lambda: RUN(plain, *inputs)

    return make


def _conditional(self: fx.Interpreter, n: fx.Node) -> Any:
    """What people write: a test in front of every node."""
    if n.name == "nowhere":
        breakpoint()
    return RUN_NODE(self, n)


def _printing(self: fx.Interpreter, n: fx.Node) -> Any:
    """What people write: a line for one node in ten, here to nowhere."""
    value = RUN_NODE(self, n)
    if n.name.endswith("0"):
        print(n.name, value.numel(), file=NOWHERE)
    return value


NOWHERE = io.StringIO()


def settrace(module: fx.GraphModule, inputs: tuple[Any, ...]) -> Run:
    """What any debugger built on `sys.settrace` costs at the least."""

    def trace(frame: object, event: str, arg: object) -> Any:
        return trace

    def run() -> object:
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return module.forward(*inputs)
        finally:
            sys.settrace(before)

    return run


def keeping(module: fx.GraphModule, inputs: tuple[Any, ...]) -> Run:
    """`forward` without the `= None` behind each last use: what keeping all values costs at least.

    A value that lives until the end takes memory that no cache holds. The collector of garbage,
    which so many values would set off, to find nothing, is no part of what it costs at least.
    """
    code = module.graph.python_code("self")
    namespace = dict(code.globals)
    exec(re.sub(r";  (\w+ = )+None", "", code.src), namespace)
    forward = namespace["forward"]

    def run() -> object:
        gc.disable()
        try:
            return forward(module, *inputs)
        finally:
            gc.enable()

    return run


def debug_mode(module: fx.GraphModule, inputs: tuple[Any, ...]) -> Run:
    """torch's log of dispatched operations."""
    from torch.utils._debug_mode import DebugMode

    def run() -> object:
        with DebugMode():
            return module.forward(*inputs)

    return run


def torchlens(module: fx.GraphModule, inputs: tuple[Any, ...]) -> Run:
    """TorchLens, on a module whose calls fxdap does not see."""
    import torchlens

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *args: Any) -> Any:
            return self.inner.forward(*args)

    plain = Plain()
    return lambda: torchlens.trace(plain, list(inputs))


PEERS: dict[str, Callable[[fx.GraphModule, tuple[Any, ...]], Run]] = {
    "fx.Interpreter": interpreter,
    "settrace": settrace,
    "forward keeping all": keeping,
    "DebugMode": debug_mode,
    "TorchLens": torchlens,
    "conditional Interpreter": _subclass(_conditional),
    "printing Interpreter": _subclass(_printing),
}


def main(model: str, seconds: str, result: str, *peers: str) -> None:
    # With a thread per core, waiting for a core that something else holds drowns every figure.
    torch.set_num_threads(1)
    module, inputs = MODELS[model]()
    contenders: dict[str, Run] = {
        "forward": lambda: module.forward(*inputs),
        "fxdap": lambda: module(*inputs),
    }
    contenders |= {name: PEERS[name](module, inputs) for name in peers}
    with torch.no_grad():
        times = interleave(contenders, float(seconds), turn=TURN_S)
    Path(result).write_text(json.dumps(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
