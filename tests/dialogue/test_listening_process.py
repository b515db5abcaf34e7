"""The debuggee's own server, met without an adapter: who may do what, and when."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, cast

import pytest

import fxdap.server.handlers  # noqa: F401  (registers what the tables are made from)
from fxdap.server.registry import HANDLERS, When
from fxdap.wire.client import ConnectionEnded, RequestFailed
from fxdap.wire.messages import REQUESTS
from tests.adapter.conftest import RawPeer, framed
from tests.adapter.test_malformed_input import ACCEPTED, REFUSED
from tests.dialogue.dialogue import PATIENCE, Dialogue
from tests.dialogue.listening import TOKEN, Listening

Meet = Callable[[], Dialogue]


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    folder = tmp_path_factory.mktemp("listening")
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "OMP_NUM_THREADS": "1"}
    listening = Listening(folder, environment)
    yield listening
    listening.close()


@pytest.fixture
def meet(listening: Listening) -> Iterator[Meet]:
    """Opens connections to the process; whatever a test does, it is free again after it."""
    opened: list[Dialogue] = []

    def open_one() -> Dialogue:
        opened.append(listening.connect())
        return opened[-1]

    yield open_one
    for dialogue in opened:
        with suppress(ConnectionEnded):
            dialogue.client.request("disconnect")
        dialogue.close()


@pytest.fixture
def raw(listening: Listening) -> Iterator[RawPeer]:
    with socket.create_connection(("127.0.0.1", listening.port)) as sock:
        stream = cast(BinaryIO, sock.makefile("rwb", buffering=0))
        yield RawPeer(stream, stream)
        stream.close()


def complete_session(raw: RawPeer, seq: int) -> None:
    """Attach, ask something, and leave, on a connection that has been through a lot."""
    raw.send(framed(seq, "attach", {"token": TOKEN}))
    raw.send(framed(seq + 1, "configurationDone"))
    assert [raw.read().command, raw.read().command] == ["configurationDone", "attach"]
    assert raw.ask(seq + 2, "threads").success is True
    assert raw.ask(seq + 3, "disconnect").success is True


@pytest.mark.parametrize("case", REFUSED)
def test_malformed_or_ill_timed_input_is_refused(raw: RawPeer, case: str) -> None:
    assert raw.ask(1, "initialize", {"adapterID": "fxdap"}).success is True
    raw.send(REFUSED[case][0])
    answer = raw.read()
    assert (answer.success, answer.request_seq) == (False, 2)
    assert answer.message
    assert raw.ask(3, "flyAway").request_seq == 3


@pytest.mark.parametrize("case", ACCEPTED)
def test_unusual_input_is_understood(raw: RawPeer, case: str) -> None:
    raw.send(framed(1, "initialize", {"adapterID": "fxdap"}))
    assert raw.read().success is True
    raw.send(ACCEPTED[case])
    assert raw.read().message == "'threads' is not served before 'attach' with the token"


def test_after_all_of_it_a_normal_session_completes(raw: RawPeer, listening: Listening) -> None:
    assert raw.ask(1, "initialize", {"adapterID": "fxdap"}).success is True
    for text, _ in REFUSED.values():
        raw.send(text)
        assert raw.read().success is False
    complete_session(raw, 3)
    assert listening.is_running()


SENSIBLE: dict[str, dict[str, Any]] = {
    "initialize": {"adapterID": "fxdap"},
    "attach": {"token": TOKEN},
    "setBreakpoints": {"source": {"path": "a.py"}, "breakpoints": []},
    "setFunctionBreakpoints": {"breakpoints": []},
    "setExceptionBreakpoints": {"filters": []},
    "breakpointLocations": {"source": {"path": "a.py"}, "line": 1},
    "source": {"sourceReference": 1},
    "evaluate": {"expression": "1 + 1"},
    "dataBreakpointInfo": {"name": "x"},
    "setDataBreakpoints": {"breakpoints": []},
    "setInstructionBreakpoints": {"breakpoints": []},
    "readMemory": {"memoryReference": "x", "count": 1},
    "writeMemory": {"memoryReference": "x", "data": ""},
    "disassemble": {"memoryReference": "x", "instructionCount": 1},
    "gotoTargets": {"source": {"path": "a.py"}, "line": 1},
    "goto": {"targetId": 1},
    "setVariable": {"name": "x", "value": "1"},
    "setExpression": {"expression": "x", "value": "1"},
    "locations": {"locationReference": 1},
    "terminateThreads": {"threadIds": []},
    "completions": {"text": "", "column": 1},
}
"""Arguments that make sense; the other requests get those of `identified`."""

REFUSED_ANYWAY = {
    "initialize": "initialize was sent before",
    "launch": "this process runs already; attach to it",
    "attach": "this process is being debugged already",
    "source": "fxdap's sources have paths; none is given",
    "exceptionInfo": "is not stopped on an exception",
}
"""Requests that are refused in every state of an attached session, for a reason of their own."""

NEED_MORE_THAN_A_STOP = {
    "readMemory",
    "writeMemory",
    "disassemble",
    "gotoTargets",
    "goto",
    "setVariable",
    "setExpression",
    "locations",
    "stepBack",
    "reverseContinue",
    "restartFrame",
}
"""Requests about something that this stop does not have; `test_every_capability` makes them."""

NAMED_BY_STOP = ("scopes", "variables", "evaluate", "completions", "stepInTargets", "restartFrame")
NEXT_STOP = {"continue": "pause", "next": "step", "stepIn": "step", "stepOut": "step"}
TABLED = [command for command in REQUESTS if command not in ("disconnect", "terminate")]


def refusal(command: str, state: str) -> str | None:
    """What the error says; None if the request is served. Made from the registry's own table."""
    served = HANDLERS.get(command)
    if command == "cancel":
        return None
    if served is None:
        return f"request {command!r} is not supported"
    if state == "connected" and served.when is not When.ANYONE:
        return "is not served before 'attach' with the token"
    if state != "stopped" and command in NEED_MORE_THAN_A_STOP:
        return ""
    if state != "stopped" and served.when in (When.STOPPED, When.LANDED):
        return "is unknown or out of date" if command in NAMED_BY_STOP else "notStopped"
    return REFUSED_ANYWAY.get(command)


def arguments_for(command: str, dialogue: Dialogue, state: str) -> dict[str, Any]:
    """Arguments that name the thread and, while it is stopped, something of its stop."""
    known = {"threadId": 1, "frameId": 1, "variablesReference": 1}
    if state == "stopped":
        frame = dialogue.stack(levels=1)[0].id
        reference = dialogue.scopes(frame)["Node"].variables_reference
        known = {
            "threadId": dialogue.thread,
            "frameId": frame,
            "variablesReference": reference,
        }
    return {**known, **SENSIBLE.get(command, {})}


def outcome(dialogue: Dialogue, command: str, state: str) -> str | None:
    """The error's text, None if the request was served; then the state is as it was before."""
    try:
        dialogue.client.request(command, arguments_for(command, dialogue, state))
    except RequestFailed as error:
        return error.message
    if state == "attached" and command == "pause":
        dialogue.stopped("pause")
        dialogue.go("continue")
    if state == "stopped" and command in NEXT_STOP:
        if command == "continue":
            dialogue.go("pause")
        dialogue.stopped(NEXT_STOP[command])
    return None


@pytest.mark.parametrize("state", ["connected", "attached", "stopped"])
def test_each_request_is_served_or_refused_as_the_registry_says(meet: Meet, state: str) -> None:
    dialogue = meet()
    dialogue.initialize()
    if state == "connected":
        table = [command for command in TABLED if command != "attach"]
    else:
        table = TABLED
        dialogue.attach(stopOnEntry=state == "stopped")
    if state == "stopped":
        dialogue.stopped("entry")
        table = [command for command in table if command not in NEED_MORE_THAN_A_STOP]
    for command in table:
        wanted, got = refusal(command, state), outcome(dialogue, command, state)
        assert (wanted is None) == (got is None), (command, wanted, got)
        assert (wanted or "") in (got or ""), (command, wanted, got)


@pytest.mark.parametrize("command", ["evaluate", "terminate", "setBreakpoints", "threads"])
def test_nothing_is_done_for_a_client_without_the_token(
    meet: Meet, listening: Listening, command: str
) -> None:
    dialogue = meet()
    arguments = {"expression": "1", "source": {"path": "a.py"}}
    assert "before 'attach' with the token" in dialogue.refused(command, arguments)
    dialogue.initialize()
    assert "before 'attach' with the token" in dialogue.refused(command, arguments)
    dialogue.client.request("disconnect", {"terminateDebuggee": True})
    dialogue.client.wait_end()
    assert listening.is_running()


def test_a_wrong_or_missing_token_is_refused_and_the_right_one_may_follow(meet: Meet) -> None:
    dialogue = meet()
    dialogue.initialize()
    for arguments in ({}, {"token": "guess"}, {"token": ""}):
        refused = dialogue.refused("attach", arguments)
        assert "'token' is not the one that fxdap.listen printed" in refused
    dialogue.attach(stopOnEntry=True)
    dialogue.stopped("entry")


def test_a_second_client_is_told_that_it_is_one_too_many(meet: Meet) -> None:
    first, second = meet(), meet()
    for each in (first, second):
        each.initialize()
    first.attach()
    assert "another client is attached" in second.refused("attach", {"token": TOKEN})
    first.client.request("disconnect")
    second.attach(stopOnEntry=True)
    second.stopped("entry")


def test_a_browser_is_shown_the_door(listening: Listening) -> None:
    with socket.create_connection(("127.0.0.1", listening.port), timeout=PATIENCE) as sock:
        sock.sendall(b"POST /attach HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        assert sock.recv(100) == b""
