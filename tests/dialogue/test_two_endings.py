"""How two debuggers end: a client that leaves either side leaves nothing stopped behind."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialogue.conftest import Connect, Listen, Script
from tests.dialogue.dialogue import PATIENCE, Dialogue
from tests.dialogue.pair import Pair
from tests.dialogue.scripts import MINE
from tests.dialogue.test_endings import REFERENCES

PROGRAM = f"""{MINE}
import os
print(os.getpid())
try:
    for _ in range(3):
        graph(torch.ones(1))
finally:
    print("cleaned up")
"""


@pytest.fixture
def pair(environment: dict[str, str], tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(environment, tmp_path)
    yield pair
    pair.close()


def program_of(graph: Dialogue) -> Path:
    """The folder that the system has of the program's process while it runs."""
    return Path("/proc") / graph.client.output("stdout").split()[0]


def test_a_python_session_that_is_killed_lets_go_and_the_graphs_end_ends_it(
    pair: Pair, script: Script
) -> None:
    graph = pair.graph
    graph.launch("mine", program=script(PROGRAM))
    graph.stopped("entry")
    graph.go("continue")
    graph.stopped("function breakpoint", "mine")
    graph.go("stepIn")
    python = pair.child()
    python.stopped("step", 6)
    assert python.client.process is not None
    os.kill(python.client.process.pid, signal.SIGKILL)
    graph.stopped("step", "relu")

    graph.go("continue")
    graph.stopped("function breakpoint", "mine")
    graph.go("stepIn")
    python = pair.child()
    python.stopped("step", 6)
    program = program_of(graph)
    assert program.exists()
    graph.client.request("disconnect")
    python.client.wait_event("terminated", PATIENCE)
    assert python.client.wait_exit(PATIENCE) == 0
    assert graph.client.wait_exit(PATIENCE) == 0
    assert not program.exists()


def test_a_program_that_python_holds_can_be_restarted_and_ended(
    connect: Connect, script: Script
) -> None:
    graph = connect()
    graph.launch("mine", program=script(PROGRAM), stopOnEntry=False)
    for _ in range(2):
        graph.stopped("function breakpoint", "mine")
        graph.go("stepIn")
        graph.stopped("step")
        assert graph.stack()[0].name == "mine"
        if _ == 0:
            first = program_of(graph)
            graph.client.request("restart", timeout=PATIENCE)
            assert not first.exists()
    graph.client.request("terminate")
    graph.client.wait_event("terminated", PATIENCE)
    assert graph.client.output("stdout").count("cleaned up") == 1


def test_no_value_outlives_a_session_that_showed_it_in_python(listen: Listen) -> None:
    listening = listen(REFERENCES)
    graph = listening.connect()
    graph.initialize()
    graph.attach(stopOnEntry=False)
    graph.stopped("entry", "x")
    # The first call is in the run of a user's Interpreter, whose own Python would be entered.
    graph.break_on({"name": "note", "hitCondition": "2"})
    graph.go("continue")
    graph.stopped("function breakpoint", "note")
    graph.go("stepIn")
    graph.stopped("step")
    reference = graph.scopes()["Locals"].variables_reference
    assert graph.children(reference)["value"].value == "tensor([2., 2.])"
    graph.client.request("disconnect")
    graph.close()
    listening.tell("")
    assert listening.lines(2) == ["seen True alive 0", "[]"]
