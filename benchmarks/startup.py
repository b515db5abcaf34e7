"""From nothing to the first stop, and how graphs of 20,000 nodes are made ready."""

import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.session import ROOT, Session
from benchmarks.table import Row, milliseconds
from benchmarks.timing import interleave, median, ratios, spread, stopwatch, take_turns

TARGET = "sample_models/gpt.py:GPT"

IMPORT_AND_CAPTURE = """
import torch
from sample_models import gpt
torch.export.export(gpt.GPT(), gpt.example_inputs()).module()
"""

DEBUGPY_SCRIPT = """import torch

print("ready")
"""


def initialize() -> Iterable[Row]:
    """Start an adapter; it is there when it has answered `initialize`."""
    times = take_turns(
        {
            "fxdap": lambda: _initialize("fxdap.adapter"),
            "debugpy": lambda: _initialize("debugpy.adapter"),
            "python": lambda: bare_python("pass"),
        },
        seconds=8,
    )
    peers = {name: median(times[name]) * 1000 for name in ("debugpy", "python")}
    yield milliseconds("initialize", times["fxdap"], 150.0, peers)


def first_stop() -> Iterable[Row]:
    """Launch to the stop on entry, less what Python takes to import torch and capture."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(DEBUGPY_SCRIPT)
        times = take_turns(
            {
                "fxdap": _first_stop,
                "bare": lambda: bare_python(IMPORT_AND_CAPTURE),
                "debugpy": lambda: _debugpy_first_stop(script),
                "bare debugpy": lambda: bare_python("import torch"),
            },
            seconds=80,
        )
    ours = [a - b for a, b in zip(times["fxdap"], times["bare"], strict=True)]
    peer = [a - b for a, b in zip(times["debugpy"], times["bare debugpy"], strict=True)]
    note = f"import and capture alone {median(times['bare']) * 1000:.0f} ms"
    yield milliseconds("first_stop", ours, 300.0, {"debugpy": median(peer) * 1000}, note)


def large_graphs() -> Iterable[Row]:
    """A program of 20,000 nodes, and its listing."""
    from benchmarks.models import chain_20k
    from fxdap.engine.program import Program
    from fxdap.view.listing import build_listing

    module, _ = chain_20k()
    ready = _seconds_each(lambda: Program(module, module.graph, "Chain"))
    listing = _seconds_each(lambda: build_listing(module))
    printed = _seconds_each(lambda: module.print_readable(print_output=False))
    text = _seconds_each(lambda: str(module.graph))
    yield milliseconds("ready_20k", ready, 1000.0)
    yield milliseconds(
        "listing_20k",
        listing,
        500.0,
        {"print_readable": median(printed) * 1000, "str(graph)": median(text) * 1000},
    )


def huge_graphs() -> Iterable[Row]:
    """A program of 100,000 nodes, and its listing."""
    from benchmarks.models import chain_graph
    from fxdap.engine.program import Program
    from fxdap.view.listing import build_listing

    module = chain_graph(100_000)
    ready = _seconds_each(lambda: Program(module, module.graph, "Chain"), rounds=3)
    listing = _seconds_each(lambda: build_listing(module), rounds=3)
    yield milliseconds("ready_100k", ready, 6000.0)
    yield milliseconds("listing_100k", listing, 3000.0)


def idle() -> Iterable[Row]:
    """A process that listens and has no client runs its graphs as ever."""
    import fxdap
    from benchmarks.models import chain

    module, inputs = chain()
    fxdap.listen(("127.0.0.1", 0))
    times = interleave(
        {"forward": lambda: module.forward(*inputs), "fxdap": lambda: module(*inputs)}, seconds=6
    )
    ours = ratios(times["fxdap"], times["forward"])
    yield Row(name="attach_idle", value=median(ours), unit="x", bar=1.02, spread=spread(ours))


def _initialize(adapter: str) -> float:
    start = time.perf_counter()
    with Session(adapter) as session:
        session.initialize()
        return time.perf_counter() - start


def _first_stop() -> float:
    start = time.perf_counter()
    with Session() as session:
        session.initialize()
        session.launch({"graph": TARGET, "capture": "export", "stopOnEntry": True})
        session.wait_stopped()
        return time.perf_counter() - start


def _debugpy_first_stop(script: Path) -> float:
    breakpoint = {"source": {"path": str(script)}, "breakpoints": [{"line": 3}]}
    start = time.perf_counter()
    with Session("debugpy.adapter") as session:
        session.initialize()
        session.launch(
            {"program": str(script), "console": "internalConsole"}, source_breakpoints=breakpoint
        )
        session.wait_stopped()
        return time.perf_counter() - start


def bare_python(code: str) -> float:
    """Until the code is through; taking the process down again does not count."""
    command = [sys.executable, "-c", f"{code}\nprint('through', flush=True)"]
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline() if process.stdout else ""
        seconds = time.perf_counter() - start
        process.kill()
    if line != "through\n":
        raise RuntimeError(f"the bare Python program failed: {line!r}")
    return seconds


def _seconds_each(action: Callable[[], Any], rounds: int = 7) -> list[float]:
    times = []
    for _ in range(rounds):
        gc.collect()
        times.append(stopwatch(action))
    return times
