"""setBreakpoints, setFunctionBreakpoints, breakpointLocations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.breakpoints import Breakpoint as EngineBreakpoint
from fxdap.engine.breakpoints import Location, stable_id
from fxdap.engine.conditions import ConditionError, HitCondition, LogMessage, check_condition
from fxdap.engine.locations import ListingLocation, SelectorLocation, SourceLocation, same_file
from fxdap.engine.selectors import SelectorError, parse_selector
from fxdap.engine.sourcelines import real_path, stops_by_line
from fxdap.server.breakpoint_table import Entry, is_listing
from fxdap.server.listing_names import current_names
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    BreakpointLocation,
    BreakpointLocationsArguments,
    BreakpointLocationsResponseBody,
    BreakpointMode,
    Capabilities,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    SetBreakpointsArguments,
    SetBreakpointsResponseBody,
    SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsResponseBody,
    SourceBreakpoint,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

MODES = [
    BreakpointMode(
        mode="before",
        label="Before the node",
        description="Stop before the node runs",
        applies_to=["source"],
    ),
    BreakpointMode(
        mode="after",
        label="After the node",
        description="Stop after the node ran",
        applies_to=["source"],
    ),
]


@serves(
    "setBreakpoints",
    offers=Capabilities(
        supports_conditional_breakpoints=True,
        supports_hit_conditional_breakpoints=True,
        supports_log_points=True,
        breakpoint_modes=MODES,
    ),
)
def set_breakpoints(session: Session, arguments: SetBreakpointsArguments) -> Struct:
    """Replace the breakpoints of one listing or Python file."""
    path = arguments.source.path
    if path is None:
        raise RequestError("setBreakpoints: only sources with a path can hold breakpoints")
    wanted = arguments.breakpoints or [SourceBreakpoint(line=n) for n in arguments.lines or []]
    names = _names(session, path) if is_listing(path) else {}
    taken: set[int] = set()
    entries = [_source_entry(path, each, names, taken, arguments) for each in wanted]
    if not is_listing(path):
        python = {
            entry.id: each
            for entry, each in zip(entries, wanted, strict=True)
            if entry.engine is not None and each.mode != "after"
        }
        session.requests.after_response(lambda: session.python.client.set_breakpoints(path, python))
    return SetBreakpointsResponseBody(
        breakpoints=session.breakpoints.replace(f"source:{real_path(path)}", entries)
    )


def _names(session: Session, path: str) -> dict[int, str]:
    if session.configured.is_set():
        return current_names(path)
    return session.listings.remembered(path)


def _source_entry(
    path: str,
    wanted: SourceBreakpoint,
    names: dict[int, str],
    taken: set[int],
    arguments: SetBreakpointsArguments,
) -> Entry:
    after = wanted.mode == "after"
    location: Location
    line = wanted.line
    if not is_listing(path):
        location = SourceLocation(path, line, after)
    elif (following := next((each for each in names if each >= line), None)) is not None:
        line = following  # from a header or comment, on to what stands under it
        location = ListingLocation(path, names[line], after)
    else:
        ident = stable_id("source", f"{path}:{line}", taken)
        name = Path(path).name
        problem = f"no node stands on line {line} of {name} or below"
        if not names and not Path(path).exists():
            problem = f"there is no listing {name}; `fxdap list TARGET` writes one"
        return Entry(ident, source=arguments.source, line=line, problem=problem)
    ident = stable_id("source", location.identity(), taken)
    entry = Entry(ident, source=arguments.source, line=line)
    if wanted.mode not in (None, "before", "after"):
        entry.problem = f"unknown mode {wanted.mode!r}; modes: before, after"
        return entry
    return complete(entry, location, wanted, wanted.log_message)


def complete(
    entry: Entry,
    location: Location,
    wanted: SourceBreakpoint | FunctionBreakpoint | DataBreakpoint | InstructionBreakpoint,
    log_message: str | None = None,
) -> Entry:
    """Give an entry its breakpoint, or the reason why its condition cannot be read."""
    try:
        entry.engine = EngineBreakpoint(
            id=entry.id,
            location=location,
            condition=check_condition(wanted.condition) if wanted.condition else None,
            hit_condition=HitCondition.parse(wanted.hit_condition)
            if wanted.hit_condition
            else None,
            log_message=LogMessage.parse(log_message) if log_message else None,
        )
    except ConditionError as error:
        entry.problem = str(error)
    return entry


@serves(
    "setFunctionBreakpoints",
    offers=Capabilities(supports_function_breakpoints=True),
)
def set_function_breakpoints(
    session: Session, arguments: SetFunctionBreakpointsArguments
) -> Struct:
    """Replace the breakpoints on selectors."""
    taken: set[int] = set()
    entries = [_function_entry(each, taken) for each in arguments.breakpoints]
    return SetFunctionBreakpointsResponseBody(
        breakpoints=session.breakpoints.replace("function", entries)
    )


def _function_entry(wanted: FunctionBreakpoint, taken: set[int]) -> Entry:
    entry = Entry(stable_id("function", wanted.name, taken))
    try:
        location = SelectorLocation(parse_selector(wanted.name))
    except SelectorError as error:
        entry.problem = str(error)
        return entry
    return complete(entry, location, wanted)


def selector_entries(selectors: tuple[str, ...]) -> list[Entry]:
    """Entries for the `nodeBreakpoints` of a configuration."""
    taken: set[int] = set()
    return [_function_entry(FunctionBreakpoint(name=text), taken) for text in selectors]


@serves(
    "breakpointLocations",
    When.ALWAYS,
    offers=Capabilities(supports_breakpoint_locations_request=True),
)
def breakpoint_locations(session: Session, arguments: BreakpointLocationsArguments) -> Struct:
    """The lines of a range that define nodes, or that nodes come from."""
    path = arguments.source.path
    last = arguments.end_line or arguments.line
    lines = _lines_with_nodes(session, path) if path else set()
    found = sorted(line for line in lines if arguments.line <= line <= last)
    return BreakpointLocationsResponseBody(
        breakpoints=[BreakpointLocation(line=line) for line in found]
    )


def _lines_with_nodes(session: Session, path: str) -> set[int]:
    if is_listing(path):
        programs = session.debugger.programs()
        known = next((p for p in programs if same_file(p.file, path)), None)
        return set(known.listing.lines.values()) if known else set(current_names(path))
    wanted = real_path(path)
    return {
        line
        for program in session.debugger.programs()
        for file, line in stops_by_line(program)
        if file == wanted
    }
