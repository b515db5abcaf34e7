"""What the adapter asks before the client does: the same answers, and never an old one."""

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from fxdap.wire.client import RequestFailed
from fxdap.wire.messages import Scope, StackFrame, Variable
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import PATIENCE, Dialogue

COUNTING = """
import torch
from torch import fx

graph = fx.Graph()
value = counter = graph.placeholder("counter")
for _ in range(40):
    value = graph.call_method("add_", (value, 1))
graph.output(value)
module = fx.GraphModule(torch.nn.Module(), graph, "Counting")
module(torch.zeros(2))
"""


class Looked:
    """What an editor asks at a stop, in its order."""

    threads: list[str]
    stack: list[StackFrame]
    scopes: list[Scope]
    rows: dict[str, dict[str, Variable]]

    def __init__(self, dialogue: Dialogue, *names: str) -> None:
        self.threads = [t.name for t in dialogue.client.request("threads").threads]
        self.stack = dialogue.stack(levels=20)
        scopes = dialogue.scopes(self.stack[0].id)
        self.scopes = list(scopes.values())
        self.rows = {name: dialogue.children(scopes[name].variables_reference) for name in names}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Looked) and vars(self) == vars(other)

    @property
    def count(self) -> int:
        """What the counter shows, which each node raises."""
        shown = re.search(r"min (\d+)", self.rows["Env"]["add_"].value)
        assert shown is not None
        return int(shown[1])

    @property
    def position(self) -> int:
        """How many nodes the program has run, by the name of the node on top."""
        return int(self.stack[0].name.split()[0].removeprefix("%add__"))


def step(dialogue: Dialogue) -> None:
    dialogue.go("next")
    dialogue.client.wait_event("stopped", timeout=PATIENCE)


def started(dialogue: Dialogue, program: str, **configuration: Any) -> None:
    dialogue.launch(program=program, **configuration)
    dialogue.stopped("entry", "counter")


def requests(folder: Path) -> list[str]:
    """The requests in the adapter's log, in order: `asked threads`, `sent threads`."""
    (log,) = folder.glob("adapter-*.log")
    found = []
    for line in log.read_text().splitlines():
        sender = re.match(r"\S+ (client ->|debuggee <-) (\{.*\"type\":\"request\".*)", line)
        if sender is not None:
            command = json.loads(sender[2])["command"]
            found.append(f"{'asked' if 'client' in sender[1] else 'sent'} {command}")
    return found


def stops(folder: Path) -> list[list[str]]:
    """The requests behind each step."""
    parts = " ".join(requests(folder)).split("asked next sent next")
    return [re.findall(r"\w+ \w+", part) for part in parts[1:]]


def test_what_was_asked_at_the_last_stop_is_asked_before_the_client_does(
    dialogue: Dialogue, script: Script, tmp_path: Path
) -> None:
    started(dialogue, script(COUNTING), logToFile=str(tmp_path / "log"))
    for _ in range(3):
        Looked(dialogue, "Env")
        step(dialogue)
    Looked(dialogue, "Node")
    dialogue.client.request("disconnect")
    for stop in stops(tmp_path / "log"):
        assert stop.index("sent stackTrace") < stop.index("asked stackTrace")
        assert stop.index("sent variables") < stop.index("asked variables")


def test_of_who_asks_nothing_nothing_is_asked_ahead(
    dialogue: Dialogue, script: Script, tmp_path: Path
) -> None:
    started(dialogue, script(COUNTING), logToFile=str(tmp_path / "log"))
    for _ in range(4):
        step(dialogue)
        dialogue.client.request("loadedSources")
    dialogue.client.request("disconnect")
    # What `started` asked at the entry is asked after the first step.
    for stop in stops(tmp_path / "log")[1:]:
        assert stop[:2] == ["asked loadedSources", "sent loadedSources"]


def test_answers_are_those_of_a_client_that_asks_late(dialogue: Dialogue, script: Script) -> None:
    started(dialogue, script(COUNTING))
    for _ in range(2):
        step(dialogue)
    for _ in range(30):
        step(dialogue)
        ahead = Looked(dialogue, "Env", "Node")
        assert ahead.count == ahead.position
        dialogue.frame = ahead.stack[0].id
        assert dialogue.value("add_[0].item()") == f"{float(ahead.position)}"
        assert Looked(dialogue, "Env", "Node") == ahead
    dialogue.client.request("disconnect")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("evaluate", {"expression": "add_.fill_(70)", "context": "repl"}),
        ("setVariable", {"name": "add_", "value": "torch.full((2,), 70.0)"}),
        ("setExpression", {"expression": "add_", "value": "torch.full((2,), 70.0)"}),
    ],
)
def test_a_change_shows_at_once(
    dialogue: Dialogue, script: Script, command: str, arguments: dict[str, Any]
) -> None:
    """The answers of before it are there already, or on their way."""
    started(dialogue, script(COUNTING))
    for _ in range(3):
        step(dialogue)
    for _ in range(10):
        before = Looked(dialogue, "Env")
        env = next(s for s in before.scopes if s.name == "Env").variables_reference
        step(dialogue)
        frame = dialogue.stack(levels=20)[0].id
        scopes = dialogue.scopes(frame)
        where = {"variablesReference": env} if command == "setVariable" else {"frameId": frame}
        dialogue.client.request(command, {**arguments, **where})
        assert "70" in dialogue.children(scopes["Env"].variables_reference)["add_"].value
    dialogue.client.request("disconnect")


def test_a_step_right_behind_a_stop_leaves_nothing_of_it(
    dialogue: Dialogue, script: Script
) -> None:
    started(dialogue, script(COUNTING))
    for _ in range(3):
        step(dialogue)
    for _ in range(10):
        step(dialogue)
        step(dialogue)
        looked = Looked(dialogue, "Env")
        assert looked.count == looked.position
    assert looked.position == 22
    dialogue.client.request("disconnect")


def test_a_reading_of_another_thread_is_its_own(connect: Connect, script: Script) -> None:
    """Two threads stop in turn: what was asked of the one is not asked of the other."""
    program = COUNTING.replace(
        "module(torch.zeros(2))",
        "from threading import Thread\n"
        "threads = [Thread(target=module, args=(torch.full((2,), x),)) for x in (0.0, 500.0)]\n"
        "[t.start() for t in threads]\n"
        "[t.join() for t in threads]",
    )
    dialogue = connect()
    dialogue.launch("add__3", program=script(program), stopOnEntry=False)
    for _ in range(2):
        dialogue.stopped("function breakpoint", "add__3")
    seen = set()
    for _ in range(6):
        for thread in (t.id for t in dialogue.client.request("threads").threads):
            dialogue.thread = thread
            step(dialogue)
            looked = Looked(dialogue, "Env")
            assert looked.count in (looked.position, 500 + looked.position)
            seen.add((thread, looked.count >= 500))
    assert len(seen) == 2
    dialogue.client.request("disconnect")


def answered(dialogue: Dialogue, seq: int) -> bool:
    """Whether there is an answer, or the reason why there cannot be one."""
    try:
        dialogue.client.wait_response(seq, timeout=PATIENCE)
    except RequestFailed as refused:
        return re.search("SIGKILL|has ended|out of date", refused.message) is not None
    return True


def test_a_killed_debuggee_leaves_no_question_open(dialogue: Dialogue, script: Script) -> None:
    """Each is answered: from what was asked ahead, or with the reason why it cannot be."""
    started(dialogue, script(COUNTING))
    pid = int(dialogue.value("__import__('os').getpid()"))
    for _ in range(2):
        last = Looked(dialogue, "Env")
        step(dialogue)
    os.kill(pid, signal.SIGKILL)
    env = next(s for s in last.scopes if s.name == "Env").variables_reference
    asked = [
        dialogue.client.send("threads"),
        dialogue.client.send("stackTrace", {"threadId": dialogue.thread, "levels": 20}),
        dialogue.client.send("scopes", {"frameId": last.stack[0].id}),
        dialogue.client.send("variables", {"variablesReference": env}),
    ]
    for seq in asked:
        assert answered(dialogue, seq)
    dialogue.client.wait_event("terminated", timeout=PATIENCE)
    dialogue.client.request("disconnect")
