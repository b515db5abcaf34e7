"""A client with child sessions: the graph's dialogue, and the Python session that it starts."""

from __future__ import annotations

import os
import queue
import sys
from pathlib import Path
from typing import Any

from msgspec.json import decode

from fxdap.wire.client import DapClient
from fxdap.wire.envelope import Request
from fxdap.wire.messages import StackFrame, StartDebuggingRequestArguments, StoppedEventBody
from tests.dialogue.dialogue import PATIENCE, Dialogue


class PythonChild:
    """The Python session, over the process that an editor starts for its type."""

    def __init__(self, configuration: dict[str, Any], *breakpoints: tuple[Path, int]) -> None:
        where = configuration["debugpy"]
        self.client = DapClient.spawn(
            [sys.executable, "-m", "fxdap.adapter.python", f"{where['host']}:{where['port']}"],
            env={**os.environ, "FXDAP_TOKEN": where["token"]},
        )
        self.thread = 0
        self.frame = 0
        self.client.request("initialize", {"adapterID": configuration["type"]})
        attach = self.client.send("attach", configuration)
        self.client.wait_event("initialized", PATIENCE)
        for file in {file for file, _ in breakpoints}:
            self.break_at(file, *(line for each, line in breakpoints if each == file))
        self.client.request("configurationDone")
        self.client.wait_response(attach, PATIENCE)

    def break_at(self, file: Path, *lines: int) -> None:
        wanted = {"source": {"path": str(file)}, "breakpoints": [{"line": n} for n in lines]}
        self.client.request("setBreakpoints", wanted)

    def stopped(self, reason: str, line: int | None = None) -> StoppedEventBody:
        body: StoppedEventBody = self.client.wait_event("stopped", PATIENCE)
        assert body.reason == reason, body
        assert body.thread_id is not None
        self.thread = body.thread_id
        top = self.stack()[0]
        self.frame = top.id
        if line is not None:
            assert top.line == line, top
        return body

    def stack(self) -> list[StackFrame]:
        body = self.client.request("stackTrace", {"threadId": self.thread})
        frames: list[StackFrame] = body.stack_frames
        return frames

    def locals(self) -> dict[str, str]:
        scopes = self.client.request("scopes", {"frameId": self.frame}).scopes
        reference = {"variablesReference": scopes[0].variables_reference}
        return {v.name: v.value for v in self.client.request("variables", reference).variables}

    def value(self, expression: str) -> str:
        wanted = {"expression": expression, "frameId": self.frame, "context": "watch"}
        result: str = self.client.request("evaluate", wanted).result
        return result

    def go(self, command: str) -> None:
        self.client.request(command, {"threadId": self.thread})

    def leave(self) -> None:
        self.client.request("disconnect")
        self.close()

    def close(self) -> None:
        self.client.close()
        self.client.wait_exit(PATIENCE)


class Pair:
    """A graph session whose client starts the child sessions that it is asked for."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.children: list[PythonChild] = []
        client = DapClient.spawn(
            [sys.executable, "-m", "fxdap.adapter"],
            env=environment,
            on_reverse_request=self._start_child,
        )
        self.graph = Dialogue(client, folder)
        self.graph.abilities = {"supportsStartDebuggingRequest": True}

    def child(self, *breakpoints: tuple[Path, int]) -> PythonChild:
        """Begin the child session that was asked for."""
        child = PythonChild(self.asked.get(timeout=PATIENCE), *breakpoints)
        self.children.append(child)
        return child

    def close(self) -> None:
        self.graph.close()
        for child in self.children:
            child.close()

    def _start_child(self, request: Request) -> None:
        self.asked.put(asked_configuration(request))


def asked_configuration(request: Request) -> dict[str, Any]:
    """What a child session is to be started with."""
    assert request.command == "startDebugging"
    arguments = decode(request.arguments, type=StartDebuggingRequestArguments)
    assert arguments.request == "attach"
    return arguments.configuration
