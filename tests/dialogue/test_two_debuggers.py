"""Two debuggers in one process: whatever a user does on either side, neither waits for the other.

FXDAP_STRESS=500 makes the random walk long.
"""

import os
import queue
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fxdap.wire.client import ConnectionEnded, DapClient, RequestFailed
from tests.dialogue.conftest import Script
from tests.dialogue.dialogue import PATIENCE
from tests.dialogue.pair import Pair, PythonChild

STEPS = int(os.environ.get("FXDAP_STRESS", "60"))

PROGRAM = """\
import torch
from torch import fx, nn


@fx.wrap
def mine(x):
    y = x + 1
    z = y * 2
    return z - y


class Leaf(nn.Module):
    def forward(self, x):
        a = mine(x)
        return a * 2


class Tracer(fx.Tracer):
    def is_leaf_module(self, m, name):
        return isinstance(m, Leaf)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, x):
        x = torch.relu(x)
        x = mine(x)
        x = self.leaf(x)
        return x + 1


model = Model()
graph = fx.GraphModule(model, Tracer().trace(model))
total = torch.zeros(2)
for i in range(RUNS):
    result = graph(torch.full((2,), float(i)))
    total = total + result
print("total", total.tolist())
"""


class Walk:
    """Presses buttons at random, on the side that holds the thread, and now and then elsewhere."""

    def __init__(self, pair: Pair, seed: int) -> None:
        self.pair = pair
        self.random = random.Random(seed)
        self.happened: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.side = ""
        self.child: PythonChild | None = None
        self.trace: list[str] = []
        self.visits = {"graph": 0, "python": 0}
        self._watch("graph", pair.graph.client)
        pair.asked = self  # type: ignore[assignment]

    def put(self, configuration: dict[str, Any]) -> None:
        """The graph's session asks for a Python session."""
        self.happened.put(("asked", configuration))

    def _watch(self, side: str, client: DapClient) -> None:
        def work() -> None:
            try:
                while True:
                    self.happened.put((side, client.wait_event("stopped", 3600)))
            except (ConnectionEnded, TimeoutError):
                pass

        threading.Thread(target=work, daemon=True).start()

    def wait(self) -> None:
        """Until one side holds the thread."""
        while True:
            side, body = self.happened.get(timeout=PATIENCE)
            if side == "asked":
                self.child = PythonChild(body)
                self.pair.children.append(self.child)
                self._watch("python", self.child.client)
                continue
            self.side = side
            self.visits[side] += 1
            holder: Any = self.pair.graph if side == "graph" else self.child
            holder.thread = body.thread_id
            return

    def step(self) -> None:
        self.look()
        if self.side == "graph":
            self._step_graph()
        else:
            self._step_python()

    def look(self) -> None:
        """What an editor asks at a stop."""
        if self.side == "graph":
            graph = self.pair.graph
            graph.frame = graph.stack(levels=1)[0].id
            if self.random.random() < 0.3:
                graph.scope("Env")
        elif self.child is not None:
            self.child.frame = self.child.stack()[0].id
            if self.random.random() < 0.3:
                self.child.locals()

    def _step_graph(self) -> None:
        graph, child = self.pair.graph, self.child
        aside = self.random.random()
        if child is not None and aside < 0.08:
            self._note("python leaves")
            self.child = None
            self.random.choice([child.leave, child.close])()
        elif child is not None and aside < 0.15:
            self._note("python pause")
            threads = child.client.request("threads").threads
            child.client.request("pause", {"threadId": threads[0].id})
        elif aside < 0.2:
            self._note("graph evaluates")
            assert graph.value("1 + 1") == "2"
        command = self.random.choice(["next", "stepIn", "stepIn", "stepIn", "stepOut", "continue"])
        self._note(f"graph {command}")
        graph.go(command)
        self.wait()

    def _step_python(self) -> None:
        graph, child = self.pair.graph, self.child
        assert child is not None
        aside = self.random.random()
        if aside < 0.1:
            self._note("graph pause")
            graph.client.request("pause", {"threadId": graph.thread})
        if aside > 0.93:
            self._note("python leaves while it holds")
            self.child = None
            self.random.choice([child.leave, child.close])()
        else:
            command = self.random.choice(["next", "stepIn", "stepOut", "continue"])
            self._note(f"python {command}")
            child.go(command)
        self.wait()

    def _note(self, text: str) -> None:
        self.trace.append(text)


@pytest.fixture
def pair(environment: dict[str, str], tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(environment, tmp_path)
    yield pair
    pair.close()


@pytest.mark.slow
@pytest.mark.timeout(60 + STEPS * 4)
def test_a_random_walk_over_both_hangs_nowhere_and_changes_nothing(
    pair: Pair, script: Script
) -> None:
    runs = STEPS + 10
    program = script(PROGRAM.replace("RUNS", str(runs)))
    walk = Walk(pair, seed=STEPS)
    pair.graph.launch("mine", program=program)
    walk.wait()
    try:
        for _ in range(STEPS):
            walk.step()
    except (queue.Empty, TimeoutError, RequestFailed, AssertionError) as error:
        raise AssertionError(f"{error!r} after {walk.trace[-12:]}") from error
    assert walk.visits["graph"] > STEPS / 6
    assert walk.visits["python"] > STEPS / 6
    if walk.child is not None:
        walk.child.leave()
    while walk.side != "graph":
        walk.wait()
    pair.graph.break_on()
    for child in pair.children:
        child.close()
    pair.graph.go("continue")
    pair.graph.ended(0)
    expected = sum((i + 2.0) * 2 + 1 for i in range(runs))
    assert f"total {[expected] * 2}" in pair.graph.client.output("stdout")
