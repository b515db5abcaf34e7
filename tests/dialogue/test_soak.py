"""A process debugged for long, or often, keeps nothing of it; `make soak` goes on for longer."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.dialogue.conftest import Listen
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.listening import Listening

SCRIPT = """
import gc, time, torch, fxdap

class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range(25):
            x = torch.relu(x + 1) * 2 - x
        return x

graph = torch.fx.symbolic_trace(Model())

def objects():
    gc.collect()
    return len(gc.get_objects())

fxdap.listen(token="secret")
while True:
    graph(torch.ones(64, 64))
    time.sleep(0.001)
"""

PAGE = 4096
MEGABYTE = 1 << 20


class Size(NamedTuple):
    """What a process holds: objects that the garbage collector knows, and bytes of memory."""

    objects: int
    memory: int


def size(session: Dialogue, listening: Listening) -> Size:
    counted = session.value("__import__('__main__').objects()")
    statm = Path(f"/proc/{listening.process.pid}/statm").read_text()
    return Size(int(counted), int(statm.split()[1]) * PAGE)


def attached(listening: Listening) -> Dialogue:
    """A session that is stopped before the first node."""
    session = listening.connect()
    session.initialize()
    session.attach(stopOnEntry=True)
    session.stopped("entry")
    return session


def leave(session: Dialogue) -> None:
    session.client.request("disconnect")
    session.client.close()


def look(session: Dialogue) -> None:
    """What an editor asks for at a stop."""
    session.client.request("threads")
    session.frame = session.stack(levels=20)[0].id
    for scope in ("Node", "Env"):
        session.scope(scope)


def assert_steady(sizes: list[Size], objects: int, memory: int) -> None:
    """The first of three rounds makes what is kept once; after it nothing grows."""
    _, before, after = sizes
    assert after.objects - before.objects <= objects, sizes
    assert after.memory - before.memory <= memory, sizes


@pytest.mark.parametrize("steps", [100, pytest.param(3500, marks=pytest.mark.soak)])
def test_steps_leave_nothing_behind(listen: Listen, steps: int) -> None:
    listening = listen(SCRIPT)
    session = attached(listening)
    session.break_on("add")
    sizes = []
    for _ in range(3):
        for _ in range(steps):
            session.go("next")
            session.thread = session.client.wait_event("stopped").thread_id
            look(session)
        # Always at the same place: what the graph has computed so far is kept for the client.
        session.go("continue")
        session.stopped("function breakpoint", "add")
        sizes.append(size(session, listening))
    leave(session)

    assert_steady(sizes, objects=50, memory=4 * MEGABYTE)


@pytest.mark.parametrize("sessions", [7, pytest.param(67, marks=pytest.mark.soak)])
def test_sessions_leave_nothing_behind(listen: Listen, sessions: int) -> None:
    listening = listen(SCRIPT)
    sizes = []
    for _ in range(3):
        for _ in range(sessions):
            session = attached(listening)
            session.break_on("sub_3")
            session.go("continue")
            session.stopped("function breakpoint")
            look(session)
            leave(session)
        session = attached(listening)
        sizes.append(size(session, listening))
        leave(session)

    assert_steady(sizes, objects=50, memory=4 * MEGABYTE)
