"""A client that reads as the dialogue it has: requests, and what is expected back."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from fxdap.wire import envelope
from fxdap.wire.client import DapClient, RequestFailed
from fxdap.wire.envelope import Event, Message, Request, Response
from fxdap.wire.extras import EXTRAS
from fxdap.wire.messages import (
    Breakpoint,
    ExceptionInfoResponseBody,
    Scope,
    StackFrame,
    StoppedEventBody,
    Variable,
)

SCHEMA = Path(__file__).parent.parent / "data" / "dap.schema.json"
PATIENCE = 60.0


class Dialogue:
    """Wraps a client; `launch` and `stopped` remember what later calls refer to."""

    def __init__(self, client: DapClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.thread = 0
        self.frame = 0
        self.abilities: dict[str, bool] = {}

    def close(self) -> None:
        """End the session if it is still on, and check everything that was received."""
        self.client.close()
        if self.client.process is not None:
            self.client.wait_exit(PATIENCE)
        check_messages(self.client.messages)

    def initialize(self) -> Any:
        return self.client.request(
            "initialize",
            {
                "adapterID": "fxdap",
                "clientID": "test",
                "supportsVariablePaging": True,
                **self.abilities,
            },
        )

    def begin(self, **configuration: Any) -> int:
        """Initialize and launch; returns the launch request's seq once `initialized` came."""
        self.initialize()
        seq = self.client.send("launch", {"cwd": str(self.folder), **configuration})
        self.client.wait_event("initialized", timeout=PATIENCE)
        return seq

    def run(self, seq: int) -> None:
        """configurationDone, and the launch is answered."""
        self.client.request("configurationDone")
        self.client.wait_response(seq, timeout=PATIENCE)

    def attach(self, **configuration: Any) -> None:
        """Attach to a process that listens, with no breakpoints."""
        seq = self.client.send("attach", {"token": "secret", **configuration})
        self.client.wait_event("initialized", timeout=PATIENCE)
        self.run(seq)

    def refused(self, command: str, arguments: Any = None) -> str:
        """Send a request that must be answered with an error; returns the error's text."""
        with pytest.raises(RequestFailed) as failure:
            self.client.request(command, arguments, timeout=PATIENCE)
        return failure.value.message

    def launch(self, *selectors: str, **configuration: Any) -> None:
        """Launch with function breakpoints and nothing else."""
        seq = self.begin(**configuration)
        if selectors:
            self.break_on(*selectors)
        self.run(seq)

    def break_on(self, *selectors: str | dict[str, str]) -> list[Breakpoint]:
        wanted = [{"name": s} if isinstance(s, str) else s for s in selectors]
        body = self.client.request("setFunctionBreakpoints", {"breakpoints": wanted})
        answered: list[Breakpoint] = body.breakpoints
        return answered

    def break_at(self, path: str | Path, *lines: int | dict[str, Any]) -> list[Breakpoint]:
        wanted = [{"line": n} if isinstance(n, int) else n for n in lines]
        body = self.client.request(
            "setBreakpoints", {"source": {"path": str(path)}, "breakpoints": wanted}
        )
        answered: list[Breakpoint] = body.breakpoints
        return answered

    def stopped(self, reason: str, node: str | None = None) -> StoppedEventBody:
        """Expect the next stop; `node` is the name that the top frame must show."""
        body: StoppedEventBody = self.client.wait_event("stopped", timeout=PATIENCE)
        assert body.reason == reason, (body, self.client.output())
        assert body.thread_id is not None
        self.thread = body.thread_id
        top = self.stack(levels=1)[0]
        self.frame = top.id
        if node is not None:
            assert top.name.split()[0] == f"%{node}"
        return body

    def stack(self, start: int = 0, levels: int = 0) -> list[StackFrame]:
        body = self.client.request(
            "stackTrace", {"threadId": self.thread, "startFrame": start, "levels": levels}
        )
        frames: list[StackFrame] = body.stack_frames
        return frames

    def scopes(self, frame: int | None = None) -> dict[str, Scope]:
        body = self.client.request("scopes", {"frameId": frame or self.frame})
        return {scope.name: scope for scope in body.scopes}

    def scope(self, name: str) -> dict[str, Variable]:
        return self.children(self.scopes()[name].variables_reference)

    def children(self, reference: int, **paging: Any) -> dict[str, Variable]:
        body = self.client.request("variables", {"variablesReference": reference, **paging})
        return {variable.name: variable for variable in body.variables}

    def evaluate(self, expression: str, context: str = "watch") -> Any:
        return self.client.request(
            "evaluate", {"expression": expression, "frameId": self.frame, "context": context}
        )

    def value(self, expression: str) -> str:
        result: str = self.evaluate(expression).result
        return result

    def go(self, command: str) -> None:
        self.client.request(command, {"threadId": self.thread})

    def exception(self) -> ExceptionInfoResponseBody:
        body: ExceptionInfoResponseBody = self.client.request(
            "exceptionInfo", {"threadId": self.thread}
        )
        return body

    def ended(self, code: int = 0) -> None:
        """Expect the program's end, and its exit code before it."""
        assert self.client.wait_event("exited", timeout=PATIENCE).exit_code == code, (
            self.client.output()
        )
        self.client.wait_event("terminated", timeout=PATIENCE)


def check_messages(messages: list[Message]) -> None:
    """Every message conforms to the protocol's schema, and seq counts from 1."""
    assert [m.seq for m in messages] == list(range(1, len(messages) + 1))
    for message in messages:
        value = json.loads(envelope.encode(message))
        for name in _definitions(message):
            _validator(name).validate(value)


def _definitions(message: Message) -> list[str]:
    match message:
        case Event(event=event):
            return [f"{event[0].upper()}{event[1:]}Event"]
        case Response(success=False):
            return ["ErrorResponse"]
        case Response(command=command) if command in EXTRAS:
            return ["Response"]
        case Response(command=command):
            return [f"{command[0].upper()}{command[1:]}Response"]
        case Request(command=command):
            return [f"{command[0].upper()}{command[1:]}Request"]
    raise AssertionError(message)


@cache
def _validator(name: str) -> Any:
    schema = msgspec.json.decode(SCHEMA.read_bytes())
    assert name in schema["definitions"], f"{name} is not in the protocol"
    return jsonschema.Draft4Validator({"$ref": f"#/definitions/{name}", **schema})
