"""How soon a stopped session answers; measured in the client's process."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.debugpy_peer import generated_code_session
from benchmarks.lldb_peer import c_session, lldb_dap
from benchmarks.session import Session
from benchmarks.table import Row, milliseconds
from benchmarks.timing import median, percentile, stopwatch

ROUNDS = 200
PEER_ROUNDS = 40
TURN = 20
PAGE = 100


def stepping() -> Iterable[Row]:
    """`step` and `refresh` with an env of 1000 values, debugpy's beside ours."""
    with stopped_at("chain_1500", "relu_250") as session:
        steps, refreshes = _steps(session, ROUNDS, "Env")
    with generated_code_session() as peer:
        peer_steps, peer_refreshes = _steps(peer, PEER_ROUNDS, "Locals")
    yield milliseconds("step", steps, 1.5, {**_debugpy(peer_steps), **_lldb()})
    yield milliseconds("refresh", refreshes, 3.0, _debugpy(peer_refreshes))
    yield Row(
        name="refresh_p95",
        value=percentile(refreshes, 95) * 1000,
        unit="ms",
        bar=10.0,
        peers={"debugpy": percentile(peer_refreshes, 95) * 1000},
    )


def looking() -> Iterable[Row]:
    """The first page of the Env scope, and one expression."""
    pages, evaluations = [], []
    with stopped_at("chain_1500", "relu_250") as session:
        for _ in range(ROUNDS):
            session.step()
            frame = session.frames()[0].id
            pages.append(page_seconds(session, frame))
            evaluations.append(stopwatch(partial(session.evaluate, "mul_7 + 1", frame)))
    yield milliseconds("variables_page", pages)
    yield milliseconds("evaluate", evaluations)


def long_env() -> Iterable[Row]:
    """The first page of an Env of 20,000 values."""
    with stopped_at("chain_20k", "mul_4990") as session:
        pages = []
        for _ in range(20):
            session.step()
            pages.append(page_seconds(session, session.frames()[0].id))
    yield milliseconds("env_20k", pages, 5.0)


def big_tensor() -> Iterable[Row]:
    """Expand a tensor of 1 GB and read one page of its elements."""
    with stopped_at("gigabyte", "select") as session:
        frame = session.frames()[0].id
        env = session.variables(session.scopes(frame)["Env"].variables_reference)
        big = next(variable for variable in env if variable.name == "zeros")
        times = [stopwatch(lambda: _expand(session, big)) for _ in range(20)]
    yield milliseconds("tensor_1gb", times, 10.0)


@contextmanager
def stopped_at(factory: str, selector: str) -> Iterator[Session]:
    """A session stopped before one node of one of our graphs."""
    with Session() as session:
        session.initialize()
        session.launch(
            {"graph": f"benchmarks.models:{factory}", "stopOnEntry": False},
            breakpoints=[{"name": selector}],
        )
        session.wait_stopped()
        yield session


def _steps(session: Session, rounds: int, scope: str) -> tuple[list[float], list[float]]:
    """Bare steps, and steps with threads, stack, scopes and one scope's variables, in turn.

    A client does the one or the other several times: an editor asks the same at every stop.
    """
    steps, refreshes = [], []
    for _ in range(rounds // TURN):
        steps += [stopwatch(session.step) for _ in range(TURN)]
        refreshes += [stopwatch(lambda: _refresh(session, scope)) for _ in range(TURN)]
    return steps, refreshes


def _refresh(session: Session, scope: str) -> None:
    session.step()
    session.client.request("threads")
    frame = session.frames()[0].id
    session.variables(session.scopes(frame)[scope].variables_reference)


def page_seconds(session: Session, frame: int) -> float:
    """How long the first page of a frame's Env takes."""
    env = session.scopes(frame)["Env"].variables_reference
    return stopwatch(lambda: session.variables(env))


def _expand(session: Session, tensor: Any) -> None:
    session.variables(tensor.variables_reference, filter="named")
    session.variables(tensor.variables_reference, filter="indexed", start=0, count=PAGE)


def _lldb() -> dict[str, float]:
    """Its steps over lines of C; nothing where it is not installed."""
    adapter = lldb_dap()
    if adapter is None:
        return {}
    with c_session(adapter) as session:
        return {"lldb-dap": median([stopwatch(session.step) for _ in range(ROUNDS)]) * 1000}


def _debugpy(seconds: Sequence[float]) -> dict[str, float]:
    return {"debugpy": median(seconds) * 1000}
