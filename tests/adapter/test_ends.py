"""However a session ends, the client is told the truth and nothing is left running."""

import os
import re
import signal

import pytest

from fxdap.wire.client import ConnectionEnded, DapClient, RequestFailed
from tests.adapter.conftest import GRAPH, PATIENCE, Started, freeze, wait_gone

ANNOUNCE = "import os, subprocess, sys\nos.write(1, b'pid %d\\n' % os.getpid())\n"
CHILD = (
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
    "os.write(1, b'child %d\\n' % child.pid)\n"
)
BUSY = "import torch\na = torch.ones(1500, 1500)\nprint('computing')\nwhile True:\n    a @ a\n"


def printed(client: DapClient, name: str) -> int:
    found = re.search(rf"{name} (\d+)", client.output("stdout"))
    assert found is not None
    return int(found[1])


def names(client: DapClient) -> list[str]:
    return [event.name for event in client.events]


def test_a_program_that_ends_is_reported_after_its_last_output(started: Started) -> None:
    started.launch("import sys\nprint('first')\nsys.stderr.write('no newline')\nsys.exit(3)")
    client = started.client
    assert client.wait_event("exited", PATIENCE).exit_code == 3
    client.wait_event("terminated")
    assert client.output("stdout") == "first\n"
    assert client.output("stderr") == "no newline"
    assert names(client)[-2:] == ["exited", "terminated"]
    client.request("disconnect")
    assert client.wait_exit() == 0


def test_an_adapter_whose_client_forgets_to_disconnect_ends_by_itself(started: Started) -> None:
    started.launch("pass")
    started.client.wait_event("terminated", PATIENCE)
    assert started.client.wait_exit(10) == 0


def test_killing_a_stopped_debuggee_is_reported_with_the_signal(started: Started) -> None:
    thread = started.launch_stopped(ANNOUNCE + GRAPH + "graph(torch.ones(2))")
    client = started.client
    client.request("next", {"threadId": thread})
    client.wait_event("stopped")
    started.wait_output("pid")
    os.kill(printed(client, "pid"), signal.SIGKILL)
    assert client.wait_event("exited").exit_code == 137
    client.wait_event("terminated")
    assert re.search(
        r"process \d+ was ended by SIGKILL.* while it was stopped \(last request: next\)",
        client.output("stderr"),
    )
    with pytest.raises(RequestFailed, match="the debuggee has ended"):
        client.request("stackTrace", {"threadId": thread})
    assert client.request("threads").threads == []
    client.request("disconnect")
    assert client.wait_exit() == 0


def test_killing_a_running_debuggee_answers_what_is_open_and_takes_its_children(
    started: Started,
) -> None:
    started.launch(ANNOUNCE + CHILD + BUSY)
    client = started.client
    started.wait_output("computing")
    pid, child = printed(client, "pid"), printed(client, "child")
    freeze(pid)
    seq = client.send("evaluate", {"expression": "1"})
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RequestFailed, match="SIGKILL"):
        client.wait_response(seq)
    assert client.wait_event("exited").exit_code == 137
    client.wait_event("terminated")
    assert "was ended by SIGKILL" in client.output("stderr")
    assert "while it ran" in client.output("stderr")
    wait_gone(pid, child)


def test_disconnect_during_a_computation_is_answered_at_once_and_ends_it(
    started: Started,
) -> None:
    started.launch(ANNOUNCE + CHILD + BUSY)
    client = started.client
    started.wait_output("computing")
    pid, child = printed(client, "pid"), printed(client, "child")
    client.request("disconnect", timeout=1)
    wait_gone(pid, child)
    assert client.wait_exit() == 0


def test_disconnect_is_answered_though_the_debuggee_cannot(started: Started) -> None:
    started.launch(ANNOUNCE + BUSY)
    client = started.client
    started.wait_output("computing")
    pid = printed(client, "pid")
    freeze(pid)
    client.request("disconnect", timeout=1)
    wait_gone(pid)


def test_disconnect_before_the_debuggee_is_ready_ends_it(
    client: DapClient, started: Started
) -> None:
    client.request("initialize", {"adapterID": "fxdap"})
    (started.folder / "a.py").write_text("pass")
    launch = client.send("launch", {"program": "a.py", "cwd": str(started.folder)})
    assert client.request("threads").threads == []
    client.request("disconnect", timeout=1)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.wait_response(launch)
    assert client.wait_exit() == 0


@pytest.mark.parametrize("state", ["stopped", "running"])
def test_nothing_runs_on_when_the_client_vanishes(started: Started, state: str) -> None:
    client = started.client
    if state == "stopped":
        started.launch_stopped(ANNOUNCE + CHILD + GRAPH + "graph(torch.ones(2))")
        started.wait_output("child")
    else:
        started.launch(ANNOUNCE + CHILD + BUSY)
        started.wait_output("computing")
    pid, child = printed(client, "pid"), printed(client, "child")
    client.close()
    wait_gone(pid, child)
    assert client.wait_exit() == 0


def test_nothing_runs_on_when_the_adapter_is_killed(started: Started) -> None:
    started.launch(ANNOUNCE + CHILD + BUSY)
    client = started.client
    started.wait_output("computing")
    pid, child = printed(client, "pid"), printed(client, "child")
    assert client.process is not None
    client.process.kill()
    wait_gone(pid, child)
    with pytest.raises(ConnectionEnded):
        client.wait_event("stopped")


def test_a_signal_to_the_adapter_ends_the_debuggee_too(started: Started) -> None:
    started.launch(ANNOUNCE + BUSY)
    client = started.client
    started.wait_output("computing")
    pid = printed(client, "pid")
    assert client.process is not None
    client.process.terminate()
    wait_gone(pid)
    assert client.wait_exit() == 128 + signal.SIGTERM


WAITING = {
    "asleep": """
import os, time
try:
    os.write(1, b'waiting\\n')
    time.sleep(600)
finally:
    print('cleaned up')
""",
    "in an event loop": """
import asyncio
async def main():
    try:
        print('waiting')
        await asyncio.sleep(600)
    finally:
        print('cleaned up')
asyncio.run(main())
""",
    "for its own signal handler": """
import signal, threading
asked = threading.Event()
signal.signal(signal.SIGINT, lambda *_: asked.set())
print('waiting')
asked.wait()
print('cleaned up')
""",
}


@pytest.mark.parametrize("how", WAITING)
def test_terminate_lets_the_program_clean_up(started: Started, how: str) -> None:
    started.launch(WAITING[how])
    client = started.client
    started.wait_output("waiting")
    client.request("terminate")
    client.wait_event("terminated")
    assert client.output("stdout") == "waiting\ncleaned up\n"
    client.request("disconnect")
    assert client.wait_exit() == 0


def test_terminate_before_the_program_begins_ends_it_without_a_word(started: Started) -> None:
    started.load("print('begun')")
    client = started.client
    client.request("terminate")
    assert client.wait_event("exited").exit_code == 0
    client.wait_event("terminated")
    assert client.output() == ""


WORKER = (
    GRAPH
    + """
import threading, time
def work():
    try:
        print('waiting')
        while True:
            graph(torch.ones(2))
            time.sleep(0.001)
    finally:
        print('cleaned up')
threading.Thread(target=work).start()
"""
)


def test_terminate_unwinds_the_programs_threads_after_its_end(started: Started) -> None:
    started.launch(WORKER, stopOnEntry=False)
    started.wait_output("waiting")
    client = started.client
    client.request("terminate")
    client.wait_event("terminated")
    assert client.output("stdout").split() == ["waiting", "cleaned", "up"]
    assert "Abandoned" not in client.output("stderr")


def test_terminate_ends_a_program_that_answers_and_goes_on(started: Started) -> None:
    started.launch(
        "import time\n"
        "while True:\n"
        "    try:\n"
        "        print('computing')\n"
        "        time.sleep(60)\n"
        "    except BaseException:\n"
        "        pass\n"
    )
    started.wait_output("computing")
    client = started.client
    client.request("terminate")
    client.wait_event("terminated", PATIENCE)
    assert "still runs 10 s after it was asked to end" in client.output()


def test_terminate_ends_even_a_debuggee_that_hangs(started: Started) -> None:
    started.launch(ANNOUNCE + BUSY)
    client = started.client
    started.wait_output("computing")
    freeze(printed(client, "pid"))
    client.request("terminate")
    assert client.wait_event("exited").exit_code == 137
    client.wait_event("terminated")
    assert "the process does not react, so it is killed" in client.output("console")


def test_a_program_that_replaces_itself_goes_on_without_a_debugger(started: Started) -> None:
    code = "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(6 * 7)'])"
    started.launch(code)
    client = started.client
    assert client.wait_event("exited", PATIENCE).exit_code == 0
    assert client.output("stdout") == "42\n"
