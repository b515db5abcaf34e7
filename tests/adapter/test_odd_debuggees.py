"""Debuggees that do not behave: scripts in the place of the server, started as it would be."""

import io
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Raw

from fxdap.adapter.debuggee import Debuggee
from fxdap.adapter.session import Session
from fxdap.wire.client import DapClient, RequestFailed
from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Event
from tests.adapter.conftest import wait_gone

CONNECT = """
import os, socket, sys, time
from fxdap.wire.connection import Connection
from fxdap.wire.envelope import Request
host, port = sys.argv[-1].split(":")
sock = socket.create_connection((host, int(port)))
adapter = Connection.over_socket(sock)
from fxdap.adapter.rendezvous import Hello
adapter.send_event("fxdapHello", Hello(token=os.environ["FXDAP_TOKEN"], pid=os.getpid()))
os.write(1, b"pid %d\\n" % os.getpid())
def answer(*commands):
    for command in commands:
        request = adapter.read()
        assert request.command == command, request
        adapter.respond(request)
"""

Launch = Callable[[str], int]


@pytest.fixture
def launch(client: DapClient, tmp_path: Path) -> Launch:
    """Launches such a script; gives the launch request's seq."""

    def start(code: str) -> int:
        script = tmp_path / "odd.py"
        script.write_text(CONNECT + code)
        client.request("initialize", {"adapterID": "fxdap"})
        arguments = {"module": "unused", "python": [sys.executable, str(script)]}
        return client.send("launch", arguments)

    return start


def pid_of(client: DapClient) -> int:
    body = client.wait_event("output", where=lambda body: "pid" in body.output)
    return int(body.output.split()[1])


def test_one_that_never_answers_can_be_left(client: DapClient, launch: Launch) -> None:
    seq = launch("time.sleep(100)")
    pid = pid_of(client)
    with pytest.raises(RequestFailed, match="the debuggee is not ready yet"):
        client.request("evaluate", {"expression": "1"})
    client.request("disconnect", timeout=1)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.wait_response(seq)
    wait_gone(pid)


def test_one_that_refuses_to_initialize_fails_the_launch(client: DapClient, launch: Launch) -> None:
    seq = launch("adapter.fail(adapter.read(), 'not today'); time.sleep(100)")
    with pytest.raises(RequestFailed, match="launch: not today"):
        client.wait_response(seq)


def test_one_that_closes_its_connection_but_lives_is_told_apart_from_a_dead_one(
    client: DapClient, launch: Launch
) -> None:
    seq = launch(
        "answer('initialize', 'launch')\n"
        "adapter.read()\n"
        "adapter.close()\n"
        "time.sleep(2.5)\n"
        "print('still here', flush=True)\n"
        "sys.exit(9)\n"
    )
    client.wait_response(seq)
    with pytest.raises(RequestFailed, match="the process has no debugger any more"):
        client.request("stackTrace", {"threadId": 1})
    assert client.wait_event("exited").exit_code == 9
    assert client.output("stdout").endswith("still here\n")


def test_a_request_right_after_the_connection_closed_hears_why_too(
    client: DapClient, launch: Launch
) -> None:
    seq = launch(
        "answer('initialize', 'launch')\n"
        "adapter.close()\n"
        "print('closed', flush=True)\n"
        "time.sleep(2.5)\n"
        "sys.exit(9)\n"
    )
    client.wait_response(seq)
    client.wait_event("output", where=lambda body: "closed" in body.output)
    with pytest.raises(RequestFailed, match="the process has no debugger any more"):
        client.request("stackTrace", {"threadId": 1})


def test_garbage_from_a_debuggee_does_not_end_the_session(
    client: DapClient, launch: Launch
) -> None:
    seq = launch(
        "answer('initialize', 'launch')\n"
        "sock.sendall(b'garbage\\r\\n\\r\\nContent-Length: 3\\r\\n\\r\\n[1]')\n"
        "adapter.send_event('initialized')\n"
        "adapter.read(); adapter.read()\n"
        "time.sleep(100)\n"
    )
    client.wait_response(seq)
    client.wait_event("initialized")
    assert client.request("disconnect") is None


def test_answers_nobody_waits_for_are_dropped(client: DapClient, launch: Launch) -> None:
    seq = launch(
        "answer('initialize', 'launch')\n"
        "adapter.respond(Request(seq=77, command='threads'))\n"
        "adapter.send_event('initialized')\n"
        "time.sleep(100)\n"
    )
    client.wait_response(seq)
    client.wait_event("initialized")
    kinds = [type(message).__name__ for message in client.messages]
    assert kinds.count("Response") == 2


def test_cancel_and_progress_speak_of_the_clients_own_numbers(
    client: DapClient, launch: Launch
) -> None:
    seq = launch(
        "answer('initialize', 'launch')\n"
        "from fxdap.wire.messages import ProgressStartEventBody\n"
        "long = adapter.read()\n"
        "body = ProgressStartEventBody(progress_id='p', title='t', request_id=long.seq)\n"
        "adapter.send_event('progressStart', body)\n"
        "cancel = adapter.read()\n"
        "assert bytes(cancel.arguments) == b'{\"requestId\":%d}' % long.seq, cancel\n"
        "adapter.respond(cancel)\n"
        "adapter.fail(long, 'cancelled')\n"
        "time.sleep(100)\n"
    )
    client.wait_response(seq)
    evaluate = client.send("evaluate", {"expression": "1"})
    assert client.wait_event("progressStart").request_id == evaluate
    client.request("cancel", {"requestId": evaluate})
    with pytest.raises(RequestFailed, match="cancelled"):
        client.wait_response(evaluate)


def test_a_launched_process_may_be_left_running(client: DapClient, launch: Launch) -> None:
    seq = launch(
        "answer('initialize', 'launch')\n"
        "leave = adapter.read()\n"
        "assert bytes(leave.arguments) == b'{\"terminateDebuggee\":false}', leave\n"
        "adapter.respond(leave)\n"
        "adapter.close()\n"
        "for _ in range(5): print('x' * 100_000, flush=True)\n"
        "open('finished', 'w').close()\n"
    )
    client.wait_response(seq)
    client.request("disconnect", {"terminateDebuggee": False})
    assert client.wait_exit() == 0


@pytest.mark.parametrize("event", ["stopped", "breakpoint", "progressStart", "output"])
@pytest.mark.parametrize("body", [b"{}", b"[7]", b'{"threadId":"one","breakpoint":"one"}'])
def test_an_event_that_the_adapter_cannot_read_is_passed_on(event: str, body: bytes) -> None:
    """Without our client, which accepts no such event."""
    ours, theirs = socket.socketpair()
    received = io.BytesIO()
    session = Session(Connection(io.BytesIO(), received), lambda: None)
    peer = Connection.over_socket(theirs)
    peer.forward(Event(seq=1, event=event, body=Raw(body)))
    peer.send_event("later")
    peer.finish_sending()
    connection = Connection.over_socket(ours)
    Debuggee(session._client.connection, session).serve(connection)
    connection.close()
    peer.close()
    told = Connection(io.BytesIO(received.getvalue()), io.BytesIO())
    assert [getattr(told.read(), "event", None) for _ in range(3)] == [event, "later", None]
