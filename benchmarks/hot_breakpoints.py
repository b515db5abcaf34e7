"""Breakpoints that are met all the time and never stop: conditions and log messages."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.models import MODELS
from benchmarks.session import ROOT, Session
from benchmarks.table import Row
from benchmarks.timing import median, ratios, spread

SECONDS = 8.0
EVERY = 10


def conditions() -> Iterable[Row]:
    """A condition on every one of 1000 tiny nodes, all by one breakpoint."""
    return _conditional("cond_hot_chain", ["op:call_function"], ("conditional Interpreter",))


def separate_conditions() -> Iterable[Row]:
    """A breakpoint of its own for each of 1000 tiny nodes, with a condition that never holds."""
    module, _ = MODELS["chain"]()
    names = [node.name for node in module.graph.nodes if node.op == "call_function"]
    return _conditional("breakpoints_1k_run", names)


def _conditional(row: str, names: list[str], peers: tuple[str, ...] = ()) -> Iterable[Row]:
    condition = "node.name == 'nowhere'"
    breakpoints = [{"name": name, "condition": condition} for name in names]
    with tempfile.TemporaryDirectory() as folder, Session() as session:
        result = Path(folder) / "times.json"
        _launch(session, result, peers, False, breakpoints)
        session.wait_terminated()
        yield _row(row, json.loads(result.read_text()), 1000)


def log_messages() -> Iterable[Row]:
    """A log message on one node in ten, each with a value; all must reach the client, in order."""
    with tempfile.TemporaryDirectory() as folder, Session() as session:
        result = Path(folder) / "times.json"
        _launch(session, result, ("printing Interpreter",), True)
        session.wait_stopped()
        source = session.frames(1)[0].source
        names = Path(source.path).read_text().splitlines()
        lines = [n for n, text in enumerate(names, 1) if "operator.add" in text or "neg" in text]
        chosen = lines[:: EVERY // 2]
        logs = [{"line": line, "logMessage": f"{line} {{x.numel()}}"} for line in chosen]
        session.client.request(
            "setBreakpoints", {"source": {"path": source.path}, "breakpoints": logs}
        )
        session.resume()
        session.wait_terminated()
        times = json.loads(result.read_text())
        _check_order(session, chosen)
        yield _row("log_chain", times, len(chosen))


def _launch(
    session: Session,
    result: Path,
    peers: tuple[str, ...],
    entry: bool,
    breakpoints: list[dict[str, Any]] | None = None,
) -> None:
    session.initialize()
    session.launch(
        {
            "module": "benchmarks.debuggee",
            "args": ["chain", str(SECONDS), str(result), *peers],
            "cwd": str(ROOT),
            "stopOnEntry": entry,
        },
        breakpoints=breakpoints,
    )


def _check_order(session: Session, lines: list[int]) -> None:
    """Raise if a message was lost or came too early."""
    logged = [
        int(line.split()[0])
        for event in session.client.events
        if event.name == "output" and event.body.category == "console" and event.body.source
        for line in event.body.output.splitlines()
    ]
    rounds, left = divmod(len(logged), len(lines))
    if not rounds or left or logged != lines * rounds:
        raise RuntimeError(f"{len(logged)} log messages are not {rounds} rounds of {len(lines)}")


def _row(name: str, times: dict[str, list[float]], hits: int) -> Row:
    base = times.pop("forward")
    ours = times.pop("fxdap")
    each = (median(ours) - median(base)) / hits * 1e6
    return Row(
        name=name,
        value=median(ratios(ours, base)),
        unit="x",
        spread=spread(ratios(ours, base)),
        peers={peer: median(ratios(values, base)) for peer, values in times.items()},
        note=f"{each:.3g} us each, {1e6 / each:.0f} a second",
    )
