"""`fxdap run`: one debug session through the real adapter, without an editor."""

import os
import subprocess
import sys
from typing import cast

from fxdap.cli.options import RunOptions
from fxdap.cli.report import JsonReport, Report, TextReport
from fxdap.cli.snapshot import PATIENCE_S, take_snapshot
from fxdap.wire.client import ConnectionEnded, DapClient, ReceivedEvent, RequestFailed
from fxdap.wire.messages import (
    Breakpoint,
    BreakpointEventBody,
    ContinueArguments,
    DisconnectArguments,
    FunctionBreakpoint,
    InitializeRequestArguments,
    NextArguments,
    SetExceptionBreakpointsArguments,
    SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsResponseBody,
    StoppedEventBody,
)

OK, RAISED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(options: RunOptions) -> int:
    """Debug what `options` name, print every stop, and say how it ended."""
    report: Report = JsonReport() if options.json else TextReport()
    client = DapClient.spawn([sys.executable, "-m", "fxdap.adapter"])
    try:
        return Session(client, options, report).run()
    except RequestFailed as error:
        report.error(error.message)
        return USAGE
    except ConnectionEnded as error:
        report.error(f"the debug adapter is gone: {error}")
        return USAGE
    except TimeoutError as error:
        report.error(f"the debug adapter does not answer: {error}")
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left, as `head` does; Python would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    finally:
        client.close()
        _wait_exit(client)


def _wait_exit(client: DapClient) -> None:
    try:
        client.wait_exit()
    except subprocess.TimeoutExpired:
        if client.process is not None:
            client.process.kill()


class Session:
    """The dialogue from `initialize` to `terminated`, one event at a time."""

    def __init__(self, client: DapClient, options: RunOptions, report: Report) -> None:
        self._client = client
        self._options = options
        self._report = report
        self._selectors: dict[int, str] = {}
        self._pending: dict[int, Breakpoint] = {}
        self._steps_left = options.steps
        self._exit_code = 0

    def run(self) -> int:
        self._client.request("initialize", _initialize_arguments())
        launch = self._client.send("launch", self._options.launch_arguments())
        if self._wait_initialized(launch):
            self._configure()
        self._client.wait_response(launch, PATIENCE_S)
        self._follow()
        self._report_pending()
        self._report.exited(self._exit_code)
        self._client.request("disconnect", DisconnectArguments())
        return RAISED if self._exit_code else OK

    def _wait_initialized(self, launch: int) -> bool:
        while event := self._client.next_event(unless_answered=launch):
            if event.name == "initialized":
                return True
            self._take(event)
        return False

    def _configure(self) -> None:
        breakpoints = [FunctionBreakpoint(name=selector) for selector in self._options.breaks]
        body = self._client.request(
            "setFunctionBreakpoints", SetFunctionBreakpointsArguments(breakpoints=breakpoints)
        )
        answers = cast(SetFunctionBreakpointsResponseBody, body).breakpoints
        for selector, answer in zip(self._options.breaks, answers, strict=True):
            self._bound(selector, answer)
        filters = ["raised", *self._options.stop_on]
        self._client.request(
            "setExceptionBreakpoints", SetExceptionBreakpointsArguments(filters=filters)
        )
        self._client.request("configurationDone")

    def _bound(self, selector: str, answer: Breakpoint) -> None:
        if answer.id is not None:
            self._selectors[answer.id] = selector
        if answer.id is not None and answer.reason == "pending":
            self._pending[answer.id] = answer
        else:
            self._report.breakpoint(selector, answer)

    def _follow(self) -> None:
        while event := self._client.next_event():
            if event.name == "terminated":
                return
            self._take(event)

    def _take(self, event: ReceivedEvent) -> None:
        match event.name:
            case "output":
                if event.body.category != "telemetry":
                    self._report.output(event.body)
            case "breakpoint":
                self._rebound(event.body)
            case "stopped":
                self._stopped(event.body)
            case "exited":
                self._exit_code = event.body.exit_code

    def _rebound(self, body: BreakpointEventBody) -> None:
        answer = body.breakpoint
        if answer.id not in self._selectors:
            return
        if not answer.verified:
            self._pending[answer.id] = answer
        elif self._pending.pop(answer.id, None) is not None:
            self._report.breakpoint(self._selectors[answer.id], answer)

    def _report_pending(self) -> None:
        """Selectors of a script match when its graphs run; these never did."""
        for id, answer in self._pending.items():
            self._report.breakpoint(self._selectors[id], answer)

    def _stopped(self, body: StoppedEventBody) -> None:
        try:
            snapshot = take_snapshot(self._client, body, self._options.at_stop, self._selectors)
            self._report.stopped(snapshot)
            self._resume(body)
        except RequestFailed as error:
            # The debuggee may die under our requests; `terminated` follows and ends the loop.
            self._report.error(str(error))

    def _resume(self, body: StoppedEventBody) -> None:
        thread = body.thread_id or 0
        if self._steps_left and body.reason != "exception":
            self._steps_left -= 1
            self._client.request("next", NextArguments(thread_id=thread))
        else:
            self._client.request("continue", ContinueArguments(thread_id=thread))


def _initialize_arguments() -> InitializeRequestArguments:
    return InitializeRequestArguments(
        client_id="fxdap",
        client_name="fxdap run",
        adapter_id="fxdap",
        path_format="path",
        lines_start_at1=True,
        columns_start_at1=True,
        supports_variable_type=True,
    )
