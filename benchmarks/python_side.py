"""What a Python debugger that is attached, but idle, costs a graph session."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec.json import decode

from benchmarks.latency import stopped_at
from benchmarks.session import PATIENCE_S, Session
from benchmarks.table import Row
from benchmarks.timing import median, spread, stopwatch
from fxdap.wire.client import DapClient
from fxdap.wire.envelope import Request
from fxdap.wire.messages import StartDebuggingRequestArguments

ROUNDS = 200


def idle() -> Iterable[Row]:
    """`step` beside an idle Python session, over `step` without one; rounds alternate."""
    plain: list[float] = []
    beside: list[float] = []
    with ExitStack() as stack:
        without = stack.enter_context(stopped_at("chain_1500", "relu_250"))
        with_python = stack.enter_context(_with_python())
        pairs = [(without, plain), (with_python, beside)]
        for _ in range(ROUNDS):
            for session, seconds in pairs:
                seconds.append(stopwatch(session.step))
            pairs.reverse()
    ratios = [a / b for a, b in zip(beside, plain, strict=True)]
    yield Row(
        name="step_python_idle", value=median(ratios), unit="x", bar=2.0, spread=spread(ratios)
    )


class _ParentSession(Session):
    """A session whose client has child sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, Any] | None = None
        self.client.on_reverse_request = self._start

    def initialize(self) -> None:
        arguments = {"adapterID": "fxdap", "supportsStartDebuggingRequest": True}
        self.client.request("initialize", arguments)

    def _start(self, request: Request) -> None:
        asked = decode(request.arguments, type=StartDebuggingRequestArguments)
        self._asked = asked.configuration

    def wait_asked(self) -> dict[str, Any]:
        """The configuration of the child session that the client was asked for."""
        configuration: dict[str, Any] = self.client.wait_for(
            lambda: self._asked, PATIENCE_S, "startDebugging"
        )
        return configuration


@contextmanager
def _with_python() -> Iterator[Session]:
    with ExitStack() as stack:
        session = _ParentSession()
        stack.enter_context(session)
        session.initialize()
        session.launch(
            {
                "graph": "benchmarks.models:chain_1500",
                "stopOnEntry": False,
                "python": {"debug": True},
            },
            breakpoints=[{"name": "relu_250"}],
        )
        child = _attach(session.wait_asked())
        session.wait_stopped()
        yield session
        child.request("disconnect")
        child.close()
        child.wait_exit()


def _attach(configuration: dict[str, Any]) -> DapClient:
    door = configuration["debugpy"]
    client = DapClient.spawn(
        [sys.executable, "-m", "fxdap.adapter.python", f"{door['host']}:{door['port']}"],
        env={**os.environ, "FXDAP_TOKEN": door["token"]},
    )
    client.request("initialize", {"adapterID": "debugpy"})
    attached = client.send("attach", configuration)
    client.wait_event("initialized", PATIENCE_S)
    client.request("configurationDone")
    client.wait_response(attached, PATIENCE_S)
    return client
