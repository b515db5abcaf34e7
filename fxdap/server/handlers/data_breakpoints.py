"""dataBreakpointInfo and setDataBreakpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.breakpoints import stable_id
from fxdap.engine.frame import Frame
from fxdap.engine.watches.data import DataLocation
from fxdap.server.breakpoint_table import Entry
from fxdap.server.handlers.breakpoints import complete
from fxdap.server.registry import When, serves
from fxdap.server.variables_tree import ValueBranch
from fxdap.wire.messages import (
    Capabilities,
    DataBreakpoint,
    DataBreakpointInfoArguments,
    DataBreakpointInfoResponseBody,
    SetDataBreakpointsArguments,
    SetDataBreakpointsResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves("dataBreakpointInfo", When.ALWAYS)
def data_breakpoint_info(session: Session, arguments: DataBreakpointInfoArguments) -> Struct:
    """Whether a row or a watched expression is a node's value; waits for nothing."""
    found = _node(session, arguments)
    if found is None:
        return DataBreakpointInfoResponseBody(
            data_id=None, description="only the values of nodes can be watched"
        )
    frame, index = found
    name = frame.program.qualified_name(index)
    return DataBreakpointInfoResponseBody(
        data_id=f"{frame.program.name}:{name}",
        description=f"%{name}",
        access_types=["read", "write", "readWrite"],
        can_persist=True,
    )


def _node(session: Session, arguments: DataBreakpointInfoArguments) -> tuple[Frame, int] | None:
    thread, name = session.last_stopped(), arguments.name
    frame = thread.top if thread is not None else None
    if (reference := arguments.variables_reference) is not None:
        owner, branch = session.variables.owner(reference), session.variables.get(reference)
        thread = session.debugger.thread(owner) if owner is not None else None
        frame = thread.top if thread is not None else None
        if isinstance(branch, ValueBranch):
            name = branch.expression or ""
    elif arguments.frame_id is not None:
        view = session.frames.get(arguments.frame_id)
        frame = view.frame if view is not None else None
    root = re.match(r"\s*%?([A-Za-z_]\w*)", name.rpartition("←")[2])
    while frame is not None and root is not None:
        index = frame.program.by_name.get(root[1])
        if index is not None:
            return frame, index
        frame = frame.parent
    return None


@serves("setDataBreakpoints", offers=Capabilities(supports_data_breakpoints=True))
def set_data_breakpoints(session: Session, arguments: SetDataBreakpointsArguments) -> Struct:
    """Replace the data breakpoints: before a value is read, after it was written to."""
    taken: set[int] = set()
    entries = [_entry(each, taken) for each in arguments.breakpoints]
    return SetDataBreakpointsResponseBody(breakpoints=session.breakpoints.replace("data", entries))


def _entry(wanted: DataBreakpoint, taken: set[int]) -> Entry:
    graph, _, name = wanted.data_id.rpartition(":")
    location = DataLocation(graph, name, wanted.access_type or "write")
    entry = Entry(stable_id("data", location.identity(), taken))
    if not graph or not name:
        entry.problem = f"unknown data {wanted.data_id!r}; ask dataBreakpointInfo for the id"
        return entry
    return complete(entry, location, wanted)
