import pytest

from fxdap.wire.client import RequestFailed
from fxdap.wire.envelope import Response
from tests.adapter.conftest import GRAPH, PATIENCE, Started

CODE = "import os\nprint('pid', os.getpid())\n" + GRAPH + "graph(torch.ones(2))\n"


def test_a_restart_runs_a_new_process_with_the_breakpoints_of_the_old(started: Started) -> None:
    client = started.client
    script = started.folder / "script.py"
    script.write_text(CODE)
    client.request("initialize", {"adapterID": "fxdap"})
    launch = client.send(
        "launch", {"program": "script.py", "cwd": str(started.folder), "stopOnEntry": False}
    )
    client.wait_event("initialized", PATIENCE)
    wanted = {"breakpoints": [{"name": "mul"}]}
    (first,) = client.request("setFunctionBreakpoints", wanted).breakpoints
    client.request("configurationDone")
    client.wait_response(launch)
    stop = client.wait_event("stopped", PATIENCE)
    assert stop.hit_breakpoint_ids == [first.id]

    restart = client.send("restart")
    client.wait_response(restart, PATIENCE)
    answers = [m for m in client.messages if isinstance(m, Response) and m.request_seq == restart]
    assert [answer.command for answer in answers] == ["restart"]
    assert client.wait_event("continued").all_threads_continued is True
    again = client.wait_event("stopped", PATIENCE)
    assert again.hit_breakpoint_ids == [first.id]
    frames = client.request("stackTrace", {"threadId": again.thread_id}).stack_frames
    assert frames[0].name.startswith("%mul")
    client.request("continue", {"threadId": again.thread_id})
    assert client.wait_event("exited", PATIENCE).exit_code == 0
    client.wait_event("terminated")
    pids = [line for line in client.output("stdout").splitlines() if line.startswith("pid")]
    assert len(set(pids)) == 2
    # One `initialized`, one end: the client sees one session.
    names = [event.name for event in client.events]
    assert [names.count(name) for name in ("initialized", "exited", "terminated")] == [1, 1, 1]


def test_a_restart_takes_the_configuration_that_comes_with_it(started: Started) -> None:
    started.launch_stopped(CODE)
    other = started.folder / "other.py"
    other.write_text("print('the other one')")
    arguments = {"program": str(other), "cwd": str(started.folder)}
    started.client.request("restart", {"arguments": arguments}, timeout=PATIENCE)
    assert started.client.wait_event("exited", PATIENCE).exit_code == 0
    assert started.client.output("stdout").endswith("the other one\n")


def test_a_restart_that_cannot_be_leaves_the_session_as_it_is(started: Started) -> None:
    thread = started.launch_stopped(CODE)
    with pytest.raises(RequestFailed, match="no such file"):
        started.client.request("restart", {"arguments": {"program": "gone.py"}})
    assert started.client.request("stackTrace", {"threadId": thread}).stack_frames != []


def test_before_a_launch_there_is_nothing_to_restart(started: Started) -> None:
    started.client.request("initialize", {"adapterID": "fxdap"})
    with pytest.raises(RequestFailed, match="launch or attach first"):
        started.client.request("restart")
