"""Whole runs under the debugger, as a ratio to `forward` in the same process.

The debuggee is launched by the real adapter, with a client attached; it times itself.
"""

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.session import ROOT, Session
from benchmarks.table import Row
from benchmarks.timing import median, ratios, spread

SECONDS = {"chain": 30.0, "gpt12": 12.0, "resnet18": 12.0}

CONDITIONS = {
    # A node in the middle, and a condition on its input that never holds.
    "chain": {"name": "neg_100", "condition": "add_100.sum() > 1e9"},
    "gpt12": {"name": "gelu_5", "condition": "linear_22.sum() > 1e9"},
    "resnet18": {"name": "add_3", "condition": "x.sum() > 1e9"},
}


@dataclass(frozen=True, kw_only=True)
class Mode:
    """What is switched on while the model runs."""

    prefix: str
    bars: dict[str, float]
    configuration: dict[str, Any]
    peers: tuple[str, ...] = ()
    conditional: bool = False
    filters: tuple[str, ...] = ()


RUN = Mode(
    prefix="run",
    bars={"chain": 1.05, "gpt12": 1.05, "resnet18": 1.05},
    configuration={"keepValues": "needed", "timeTravel": False},
    peers=("fx.Interpreter", "settrace", "DebugMode"),
)
KEEP = Mode(
    prefix="keep",
    bars={"chain": 1.15},
    configuration={"keepValues": "all", "timeTravel": False},
    peers=("forward keeping all",),
)
COND = Mode(
    prefix="cond",
    bars={"chain": 1.10, "gpt12": 1.10, "resnet18": 1.10},
    configuration={"keepValues": "needed", "timeTravel": False},
    conditional=True,
)
NAN = Mode(
    prefix="nan",
    bars={"chain": 1.6, "gpt12": 1.10, "resnet18": 1.05},
    configuration={"keepValues": "needed", "timeTravel": False},
    filters=("nan", "inf"),
)
META = Mode(
    prefix="meta",
    bars={},
    configuration={"keepValues": "needed", "timeTravel": False},
    filters=("meta",),
)
RECORD = Mode(
    prefix="record",
    bars={"gpt12": 1.10},
    configuration={"keepValues": "needed", "timeTravel": True},
)
MODES = (RUN, KEEP, COND, NAN, META, RECORD)


def measure(mode: Mode, model: str) -> Iterable[Row]:
    """One row: a launch, and as many rounds as fit its time."""
    times = _times(mode, model)
    base = times.pop("forward")
    ours = ratios(times.pop("fxdap"), base)
    yield Row(
        name=f"{mode.prefix}_{model}",
        value=median(ours),
        unit="x",
        bar=mode.bars.get(model),
        spread=spread(ours),
        peers={name: median(ratios(values, base)) for name, values in times.items()},
        note=f"forward {median(base) * 1000:.3g} ms",
    )


def _times(mode: Mode, model: str) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder, Session() as session:
        result = Path(folder) / "times.json"
        session.initialize()
        session.launch(
            {
                "module": "benchmarks.debuggee",
                "args": [model, str(SECONDS[model]), str(result), *mode.peers],
                "cwd": str(ROOT),
                "stopOnEntry": False,
                **mode.configuration,
            },
            breakpoints=[CONDITIONS[model]] if mode.conditional else None,
            filters=mode.filters,
        )
        session.wait_terminated()
        times: dict[str, list[float]] = json.loads(result.read_text())
        return times
