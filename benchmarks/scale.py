"""Sizes at their far end: a graph of 100,000 nodes, a thousand breakpoints, a flood of messages."""

import time
from collections.abc import Iterable
from functools import partial

from benchmarks.latency import page_seconds, stopped_at
from benchmarks.session import Session
from benchmarks.startup import bare_python
from benchmarks.table import Row, milliseconds
from benchmarks.timing import median, stopwatch

BUILD = "from benchmarks.models import chain_100k; chain_100k()"
ROUNDS = 40


def huge_graph() -> Iterable[Row]:
    """A session on 100,000 nodes: to its first stop, then steps and a first page of Env."""
    bare = bare_python(BUILD)
    start = time.perf_counter()
    with Session() as session:
        session.initialize()
        session.launch({"graph": "benchmarks.models:chain_100k", "stopOnEntry": True})
        session.wait_stopped()
        ready = time.perf_counter() - start - bare
        _run_to(session, "mul_24900")
        steps = [stopwatch(session.step) for _ in range(ROUNDS)]
        frame = session.frames()[0].id
        pages = [page_seconds(session, frame) for _ in range(ROUNDS)]
    with stopped_at("chain_1500", "relu_250") as session:
        small = [stopwatch(session.step) for _ in range(ROUNDS)]
    note = f"beyond importing torch and building the graph, {bare:.1f} s"
    yield milliseconds("first_stop_100k", [ready], 6000.0, note=note)
    yield milliseconds("env_100k", pages, 10.0)
    yield milliseconds("step_100k", steps, 1.5, {"1500 nodes": median(small) * 1000})


def many_breakpoints() -> Iterable[Row]:
    """A thousand breakpoints: to set by name and by line, to meet one by one, to remove."""
    names = [f"{op}_{number}" for number in range(1, 251) for op in ("relu", "add", "neg", "mul")]
    with stopped_at("chain_1500", "relu") as session:
        listing = session.frames(1)[0].source.path
        by_line = [stopwatch(partial(_set_lines, session, listing, 1000)) for _ in range(5)]
        _set_lines(session, listing, 0)
        by_name = [stopwatch(partial(_set, session, names)) for _ in range(5)]
        met = [stopwatch(partial(_go_on, session)) for _ in range(200)]
        removing = stopwatch(partial(_set, session, []))
    note = f"by name; by line {median(by_line) * 1000:.3g} ms; to remove {removing * 1000:.3g} ms"
    yield milliseconds("breakpoints_1k_set", by_name, note=note)
    yield milliseconds("breakpoints_1k_met", met)


def _set(session: Session, names: list[str]) -> None:
    wanted = [{"name": name} for name in names]
    session.client.request("setFunctionBreakpoints", {"breakpoints": wanted})


def _set_lines(session: Session, listing: str, count: int) -> None:
    wanted = [{"line": line} for line in range(3, 3 + count)]
    arguments = {"source": {"path": listing}, "breakpoints": wanted}
    session.client.request("setBreakpoints", arguments)


def _run_to(session: Session, name: str) -> None:
    _set(session, [name])
    _go_on(session)


def _go_on(session: Session) -> None:
    session.resume()
    session.wait_stopped()
