"""A debug session with the client in this process and everything else in others."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.direct_client import DirectClient

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S = 300.0


class Session:
    """From `initialize` to the first stop, then one request at a time."""

    def __init__(self, adapter: str | Sequence[str] = "fxdap.adapter") -> None:
        """`adapter` is a Python module, or the command line of another adapter."""
        command = [sys.executable, "-m", adapter] if isinstance(adapter, str) else adapter
        # Others number some of their messages out of order.
        self.client = DirectClient.spawn(
            command, cwd=str(ROOT), check_order=adapter == "fxdap.adapter"
        )
        self.thread = 0

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.client.process is not None and self.client.process.poll() is None:
            try:
                self.client.request("disconnect", {"terminateDebuggee": True})
            finally:
                self.client.close()
                self.client.process.kill()
                self.client.wait_exit()

    def initialize(self) -> None:
        arguments = {
            "adapterID": "fxdap",
            "pathFormat": "path",
            "supportsVariableType": True,
            "supportsVariablePaging": True,
        }
        self.client.request("initialize", arguments)

    def launch(
        self,
        configuration: dict[str, Any],
        breakpoints: list[dict[str, Any]] | None = None,
        source_breakpoints: dict[str, Any] | None = None,
        filters: Sequence[str] = (),
    ) -> None:
        """Everything up to the answer to `launch`."""
        launch = self.client.send("launch", {"cwd": str(ROOT), **configuration})
        self._wait_initialized(launch)
        if breakpoints:
            self.client.request("setFunctionBreakpoints", {"breakpoints": breakpoints})
        if source_breakpoints:
            self.client.request("setBreakpoints", source_breakpoints)
        if filters:
            self.client.request("setExceptionBreakpoints", {"filters": list(filters)})
        self.client.request("configurationDone")
        self.client.wait_response(launch, PATIENCE_S)

    def _wait_initialized(self, launch: int) -> None:
        while event := self.client.next_event(PATIENCE_S, unless_answered=launch):
            if event.name == "initialized":
                return
        self.client.wait_response(launch)

    def wait_stopped(self) -> Any:
        body = self.client.wait_event("stopped", PATIENCE_S)
        self.thread = body.thread_id
        return body

    def step(self) -> None:
        """`next`, up to the `stopped` event."""
        self.client.request("next", {"threadId": self.thread})
        self.client.wait_event("stopped", PATIENCE_S)

    def resume(self) -> None:
        self.client.request("continue", {"threadId": self.thread})

    def wait_terminated(self) -> None:
        self.client.wait_event("terminated", PATIENCE_S)

    def frames(self, levels: int = 20) -> list[Any]:
        body = self.client.request("stackTrace", {"threadId": self.thread, "levels": levels})
        frames: list[Any] = body.stack_frames
        return frames

    def scopes(self, frame: int) -> dict[str, Any]:
        """By name."""
        body = self.client.request("scopes", {"frameId": frame})
        return {scope.name: scope for scope in body.scopes}

    def variables(self, reference: int, **page: Any) -> list[Any]:
        body = self.client.request("variables", {"variablesReference": reference, **page})
        variables: list[Any] = body.variables
        return variables

    def evaluate(self, expression: str, frame: int) -> Any:
        arguments = {"expression": expression, "frameId": frame, "context": "watch"}
        return self.client.request("evaluate", arguments)
