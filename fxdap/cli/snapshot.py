"""What is shown of one stop, gathered with ordinary DAP requests."""

from typing import cast

from msgspec import Struct

from fxdap.wire.client import DapClient, RequestFailed
from fxdap.wire.messages import (
    EvaluateArguments,
    EvaluateResponseBody,
    ExceptionInfoArguments,
    ExceptionInfoResponseBody,
    ScopesArguments,
    ScopesResponseBody,
    StackFrame,
    StackTraceArguments,
    StackTraceResponseBody,
    StoppedEventBody,
    Variable,
    VariablesArguments,
    VariablesResponseBody,
)

PATIENCE_S = 3600.0
"""For answers that run user code: a person can interrupt, and a script has its own limit."""

FRAMES = 16
"""How many frames are asked for; a Python program below the graph can have hundreds."""


class Watch(Struct, frozen=True, kw_only=True, rename="camel"):
    """One `--at-stop` expression and what it gave; exactly one of result and error is set."""

    expression: str
    result: str | None = None
    error: str | None = None


class Snapshot(
    Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
    tag_field="event",
    tag="stopped",
):
    """One stop as the terminal shows it, and as `--json` prints it."""

    reason: str
    description: str | None = None
    text: str | None = None
    thread_id: int
    breakpoints: list[str] = []
    frames: list[StackFrame] = []
    scopes: dict[str, list[Variable]] = {}
    watches: list[Watch] = []
    exception: ExceptionInfoResponseBody | None = None


def take_snapshot(
    client: DapClient,
    stopped: StoppedEventBody,
    expressions: tuple[str, ...],
    breakpoints: dict[int, str],
) -> Snapshot:
    """Ask for everything about a stop that is shown."""
    thread = stopped.thread_id or 0
    frames = _frames(client, thread)
    top = frames[0].id if frames else None
    hit = stopped.hit_breakpoint_ids or []
    return Snapshot(
        reason=stopped.reason,
        description=stopped.description,
        text=stopped.text,
        thread_id=thread,
        breakpoints=[breakpoints[id] for id in hit if id in breakpoints],
        frames=frames,
        scopes=_scopes(client, top) if top is not None else {},
        watches=[_watch(client, expression, top) for expression in expressions],
        exception=_exception(client, thread) if stopped.reason == "exception" else None,
    )


def _frames(client: DapClient, thread: int) -> list[StackFrame]:
    body = client.request("stackTrace", StackTraceArguments(thread_id=thread, levels=FRAMES))
    return cast(StackTraceResponseBody, body).stack_frames


def _scopes(client: DapClient, frame: int) -> dict[str, list[Variable]]:
    body = client.request("scopes", ScopesArguments(frame_id=frame))
    scopes = cast(ScopesResponseBody, body).scopes
    return {
        scope.name: _variables(client, scope.variables_reference)
        for scope in scopes
        if scope.name in ("Node", "Returned", "Env")
    }


def _variables(client: DapClient, reference: int) -> list[Variable]:
    arguments = VariablesArguments(variables_reference=reference)
    body = client.request("variables", arguments, PATIENCE_S)
    return cast(VariablesResponseBody, body).variables


def _watch(client: DapClient, expression: str, frame: int | None) -> Watch:
    arguments = EvaluateArguments(expression=expression, frame_id=frame, context="watch")
    try:
        body = client.request("evaluate", arguments, PATIENCE_S)
    except RequestFailed as error:
        return Watch(expression=expression, error=str(error))
    return Watch(expression=expression, result=cast(EvaluateResponseBody, body).result)


def _exception(client: DapClient, thread: int) -> ExceptionInfoResponseBody | None:
    try:
        body = client.request("exceptionInfo", ExceptionInfoArguments(thread_id=thread))
    except RequestFailed:
        return None
    return cast(ExceptionInfoResponseBody, body)
