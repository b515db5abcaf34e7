"""fxdapPosition, fxdapMatch and fxdapRepro: what an editor shows beside DAP."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.locations import SelectorLocation
from fxdap.engine.selectors import SelectorError, parse_selector
from fxdap.server.registry import When, serves
from fxdap.view.node_text import node_line
from fxdap.view.selector_choices import selector_choices
from fxdap.wire.errors import RequestError
from fxdap.wire.extras import (
    MatchArguments,
    MatchResponseBody,
    PositionArguments,
    PositionResponseBody,
    ReproArguments,
    ReproResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

SHOWN = 20


@serves("fxdapPosition", When.STOPPED)
def position(session: Session, arguments: PositionArguments) -> Struct:
    """The innermost graph and how far it is."""
    frame = session.stopped_thread(arguments).top
    if frame is None:
        raise RequestError.not_stopped()
    program = frame.program
    return PositionResponseBody(
        graph=f"{program.name}/{program.path}" if program.path else program.name,
        node=frame.node.name,
        position=frame.position + 1,
        count=len(program),
    )


@serves("fxdapMatch")
def match(session: Session, arguments: MatchArguments) -> Struct:
    """Try a selector, as it is being typed."""
    text = arguments.selector.strip()
    try:
        selector = parse_selector(text)
    except SelectorError as error:
        return MatchResponseBody(choices=selector_choices(text, str(error)))
    programs = session.debugger.programs()
    _, message = SelectorLocation(selector).describe(programs)
    found = (p.nodes[i] for p in programs for i in selector.match(p).indices)
    nodes = [(node.name, node_line(node)) for node in islice(found, SHOWN)]
    return MatchResponseBody(choices=selector_choices(text, message, nodes=nodes))


@serves("fxdapRepro", When.STOPPED, on_thread=True)
def repro(session: Session, arguments: ReproArguments) -> Struct:
    """Write the stopped node, or a slice that leads to it, as a script of its own."""
    from fxdap.graphs.repro import ReproError, record_frame, write_script

    frame = session.stopped_thread(arguments).top
    if frame is None:
        raise RequestError.not_stopped()
    try:
        recording = record_frame(frame, arguments.at, arguments.starts)
        text = write_script(recording)
    except ReproError as error:
        raise RequestError(str(error), show_user=True) from None
    return ReproResponseBody(content=text, file_name=f"repro_{recording.slice.at.name}.py")
