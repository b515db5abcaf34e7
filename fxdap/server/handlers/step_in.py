"""stepIn and stepInTargets: into the graphs and the Python that a node runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.graphs.entering import Body, bodies
from fxdap.graphs.entering import step_in_targets as graph_targets
from fxdap.graphs.python_targets import PythonTarget, python_targets
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    StepInArguments,
    StepInTarget,
    StepInTargetsArguments,
    StepInTargetsResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

_FIRST_PYTHON = 1000
"""Python targets are numbered from here."""


@serves("stepIn", When.LANDED)
def step_in(session: Session, arguments: StepInArguments) -> None:
    """Step into the graph or the Python that the node, or the rest of its `line`, calls."""
    thread = session.stopped_thread(arguments)
    target = None if arguments.target_id is None else _target(session, arguments)
    session.released(thread)
    by_line = arguments.granularity == "line"
    session.requests.after_response(lambda: session.python.step_in(thread, target, by_line=by_line))


@serves(
    "stepInTargets",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_step_in_targets_request=True),
)
def step_in_targets(session: Session, arguments: StepInTargetsArguments) -> Struct:
    """What a step in from this frame can enter."""
    view = session.frame_view(arguments.frame_id)
    frame = view.frame
    if frame is None or view.scope is not None or frame is not view.thread.top:
        return StepInTargetsResponseBody(targets=[])
    every = bodies(frame)
    graphs = [
        StepInTarget(id=1 + every.index(target), label=target[0]) for target in graph_targets(frame)
    ]
    python = [_shown(_FIRST_PYTHON + i, target) for i, target in enumerate(python_targets(frame))]
    return StepInTargetsResponseBody(targets=[*graphs, *python])


def _shown(ident: int, target: PythonTarget) -> StepInTarget:
    file, line = target.code.co_filename, target.code.co_firstlineno
    return StepInTarget(id=ident, label=f"{target.name}  {Path(file).name}:{line}")


def _target(session: Session, arguments: StepInArguments) -> PythonTarget | Body:
    frame = session.stopped_thread(arguments).top
    ident = arguments.target_id or 0
    graphs = [body for _, body in bodies(frame)] if frame is not None else []
    if 0 < ident <= len(graphs):
        return graphs[ident - 1]
    targets = python_targets(frame) if frame is not None else []
    index = ident - _FIRST_PYTHON
    if not 0 <= index < len(targets):
        raise RequestError(f"stepIn: there is no target {arguments.target_id} at this node")
    return targets[index]
