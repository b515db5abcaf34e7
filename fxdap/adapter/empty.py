"""What there is to say of a debuggee that is not there yet."""

from msgspec import Struct

from fxdap.wire.messages import (
    BreakpointLocationsResponseBody,
    DataBreakpointInfoResponseBody,
    LoadedSourcesResponseBody,
    ThreadsResponseBody,
)

EMPTY: dict[str, Struct] = {
    "threads": ThreadsResponseBody(threads=[]),
    "loadedSources": LoadedSourcesResponseBody(sources=[]),
    "breakpointLocations": BreakpointLocationsResponseBody(breakpoints=[]),
    "dataBreakpointInfo": DataBreakpointInfoResponseBody(
        data_id=None, description="no graph is being debugged"
    ),
}
"""The bodies of the answers that `states` calls EMPTY."""
