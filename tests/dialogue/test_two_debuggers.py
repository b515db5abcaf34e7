"""Two debuggers in one process: whatever a user does on either side, neither waits for the other.

FXDAP_STRESS=SEED walks other ways than the one that is tested always.
"""

import os
import queue
import random
import threading
from collections import Counter
from typing import Any

import pytest

from fxdap.wire.client import ConnectionEnded, DapClient, RequestFailed
from fxdap.wire.envelope import Request
from fxdap.wire.messages import StoppedEventBody
from tests.dialogue.conftest import Listen
from tests.dialogue.dialogue import PATIENCE, Dialogue
from tests.dialogue.listening import TOKEN, Listening
from tests.dialogue.pair import PythonChild, asked_configuration

STEPS = 500
SEED = int(os.environ.get("FXDAP_STRESS", "500"))

PROGRAM = """\
import pathlib
import threading
import torch
import fxdap
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
enough = pathlib.Path(__file__).with_name("enough")
total = torch.zeros(2)
runs = 0
fxdap.listen(token="secret")
fxdap.wait_for_client()
while not enough.exists():
    total = total + graph(torch.full((2,), float(runs % 7)))
    runs += 1
left = [each for each in threading._active.values() if each.name == "fxdap-relay"]
for each in left:
    each.join(10)
print(sum(each.is_alive() for each in left), runs, *total.tolist())
"""


class Walk:
    """Presses buttons at random, on the side that holds the thread, and now and then elsewhere.

    Without `children` Python is debugged in the graph's session, which then is both sides.
    """

    def __init__(self, listening: Listening, children: bool) -> None:
        self.listening = listening
        self.children = children
        self.random = random.Random(SEED)
        self.happened: queue.SimpleQueue[tuple[DapClient | None, Any]] = queue.SimpleQueue()
        self.child: PythonChild | None = None
        self.in_python = False
        self.thread = 0
        self.trace: list[str] = []
        self.visits: Counter[str] = Counter()
        self.graph = self._attach()

    def _attach(self) -> Dialogue:
        """Begin the graph's session, which stops at the next graph."""
        client = DapClient.connect("127.0.0.1", self.listening.port, on_reverse_request=self._asked)
        graph = Dialogue(client, self.listening.folder)
        graph.abilities = {"supportsStartDebuggingRequest": self.children}
        graph.initialize()
        seq = client.send("attach", {"token": TOKEN})
        client.wait_event("initialized", PATIENCE)
        graph.break_on("mine")
        graph.run(seq)
        self._watch(client)
        return graph

    def _asked(self, request: Request) -> None:
        self.happened.put((None, asked_configuration(request)))

    def _watch(self, client: DapClient) -> None:
        def work() -> None:
            try:
                while True:
                    self.happened.put((client, client.wait_event("stopped", 3600)))
            except (ConnectionEnded, TimeoutError):
                pass

        threading.Thread(target=work, daemon=True).start()

    def wait(self) -> None:
        """Until one side holds the thread."""
        while True:
            client, body = self.happened.get(timeout=PATIENCE)
            if client is None:
                self.child = PythonChild(body)
                self._watch(self.child.client)
            elif client is self.graph.client:
                return self._at(body, in_python=body.description == "Paused in Python")
            elif self.child is not None and client is self.child.client:
                return self._at(body, in_python=True)

    def _at(self, body: StoppedEventBody, in_python: bool) -> None:
        self.in_python = in_python
        self.visits["python" if in_python else "graph"] += 1
        assert body.thread_id is not None
        self.thread = body.thread_id
        holder = self.child if in_python and self.child is not None else self.graph
        holder.thread = body.thread_id
        self.frame = holder.frame = holder.stack()[0].id

    def step(self) -> None:
        """Look at what an editor shows, perhaps do something aside, then go on."""
        if self.random.random() < 0.3:
            self._look()
        if self.random.random() < 0.06:
            self._graph_leaves()
        elif self.child is not None and self.random.random() < 0.06:
            self._python_leaves()
        else:
            self._go()
        self.wait()

    def _look(self) -> None:
        if not self.in_python:
            assert self.graph.value("1 + 1") == "2"
            self.graph.scope("Env")
        elif self.child is not None:
            self.child.locals()
        else:
            self.graph.scope("Locals")

    def _graph_leaves(self) -> None:
        """Another client takes its place; a thread that it held goes on, one of debugpy's not."""
        how = self.random.choice(["says so", "is gone"])
        self._note(f"graph {how}")
        if how == "says so":
            self.graph.client.request("disconnect")
        self.graph.close()
        held = self.in_python and self.child is not None
        self.graph = self._attach()
        if held and self.child is not None:
            self.child.go("continue")

    def _python_leaves(self) -> None:
        child, self.child = self.child, None
        assert child is not None
        self._note("python leaves")
        self.random.choice([child.leave, child.close])()
        if not self.in_python:
            self.graph.go("next")

    def _go(self) -> None:
        if self.random.random() < 0.1:
            self._pause_other()
        commands = ["next", "stepIn", "stepOut", "continue"]
        command = self.random.choice(commands if self.in_python else [*commands, "stepIn"])
        self._note(f"{'python' if self.in_python else 'graph'} {command}")
        holder = self.child if self.in_python and self.child is not None else self.graph
        holder.go(command)

    def _pause_other(self) -> None:
        """The side that does not hold the thread is asked to pause it."""
        if self.in_python:
            self._note("graph pause")
            self.graph.client.request("pause", {"threadId": self.thread})
        elif self.child is not None:
            self._note("python pause")
            threads = self.child.client.request("threads").threads
            self.child.client.request("pause", {"threadId": threads[0].id})

    def end(self) -> None:
        """Leave the program alone, and let it end."""
        if self.child is not None:
            self.child.leave()
        self.graph.client.request("disconnect")
        self.graph.close()
        (self.listening.folder / "enough").touch()

    def _note(self, text: str) -> None:
        self.trace.append(text)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("children", [True, False], ids=["child sessions", "one session"])
def test_a_random_walk_over_both_hangs_nowhere_and_changes_nothing(
    listen: Listen, children: bool
) -> None:
    listening = listen(PROGRAM)
    walk = Walk(listening, children)
    walk.wait()
    try:
        for _ in range(STEPS):
            walk.step()
    except (queue.Empty, TimeoutError, ConnectionEnded, RequestFailed, AssertionError) as error:
        raise AssertionError(f"{error!r} after {walk.trace[-12:]}") from error
    assert walk.visits["graph"] > STEPS / 6
    assert walk.visits["python"] > STEPS / 6
    walk.end()
    (result,) = listening.lines(1)
    relays, runs, *total = result.split()
    assert relays == "0"
    expected = sum((i % 7 + 2.0) * 2 + 1 for i in range(int(runs)))
    assert [float(each) for each in total] == [expected] * 2
    assert listening.process.wait(PATIENCE) == 0
