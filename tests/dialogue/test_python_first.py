"""A program under a plain Python debugger that asks for its graph session."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fxdap.wire.client import DapClient
from tests.dialogue.conftest import Script
from tests.dialogue.dialogue import PATIENCE, Dialogue
from tests.dialogue.scripts import MINE

PROGRAM = f"""{MINE}
import fxdap
fxdap.breakpoint()
print(graph(torch.ones(2)).tolist())
print("end")
"""


@pytest.fixture
def debugpy(environment: dict[str, str]) -> Iterator[DapClient]:
    command = [sys.executable, "-m", "debugpy.adapter"]
    client = DapClient.spawn(command, env=environment, check_order=False)
    yield client
    client.close()
    assert client.process is not None
    client.process.kill()
    client.process.wait(PATIENCE)


def test_breakpoint_asks_the_python_debuggers_client_for_a_graph_session(
    debugpy: DapClient, script: Script, tmp_path: Path
) -> None:
    debugpy.request("initialize", {"adapterID": "debugpy"})
    program = script(PROGRAM)
    launch = {"program": program, "console": "internalConsole", "cwd": os.getcwd()}
    started = debugpy.send("launch", {**launch, "python": [sys.executable]})
    debugpy.wait_event("initialized", PATIENCE)
    breakpoint = {"source": {"path": program}, "breakpoints": [{"line": 17}]}
    debugpy.request("setBreakpoints", breakpoint)
    debugpy.request("configurationDone")
    debugpy.wait_response(started, PATIENCE)

    where: dict[str, Any] = debugpy.wait_event("fxdapListening", PATIENCE)
    graph = Dialogue(DapClient.connect(where["host"], where["port"]), tmp_path)
    graph.initialize()
    graph.attach(token=where["token"])
    held = debugpy.wait_event("stopped", PATIENCE)
    debugpy.request("next", {"threadId": held.thread_id})
    graph.stopped("entry", "x")
    graph.go("next")
    graph.stopped("step", "mine")
    graph.go("stepIn")
    held = debugpy.wait_event("stopped", PATIENCE)
    frames = debugpy.request("stackTrace", {"threadId": held.thread_id}).stack_frames
    assert [(frame.name, frame.line) for frame in frames] == [("mine", 6), ("<module>", 17)]
    debugpy.request("stepOut", {"threadId": held.thread_id})
    graph.stopped("step", "relu")
    graph.go("continue")
    # The step over the call of the graph, begun before all of this, ends behind the call.
    held = debugpy.wait_event("stopped", PATIENCE)
    frames = debugpy.request("stackTrace", {"threadId": held.thread_id}).stack_frames
    assert [(frame.name, frame.line) for frame in frames] == [("<module>", 18)]
    debugpy.request("continue", {"threadId": held.thread_id})
    debugpy.wait_event("terminated", PATIENCE)
    assert "[4.0, 4.0]" in debugpy.output("stdout")
    graph.client.close()
