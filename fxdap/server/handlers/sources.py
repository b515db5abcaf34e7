"""source and loadedSources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.server.events import listing_source
from fxdap.server.registry import serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    LoadedSourcesArguments,
    LoadedSourcesResponseBody,
    SourceArguments,
    SourceResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves("loadedSources", offers=Capabilities(supports_loaded_sources_request=True))
def loaded_sources(session: Session, arguments: LoadedSourcesArguments) -> Struct:
    """The listings of all graphs seen."""
    roots = [p for p in session.debugger.programs() if p.parent is None]
    return LoadedSourcesResponseBody(sources=[listing_source(p) for p in roots])


@serves("source")
def source(session: Session, arguments: SourceArguments) -> Struct:
    """The text of a listing, for clients that cannot read the file."""
    path = arguments.source.path if arguments.source else None
    if path is None:
        raise RequestError("source: fxdap's sources have paths; none is given")
    for program in session.debugger.programs():
        if program.file == path:
            return SourceResponseBody(content=program.listing.text)
    try:
        return SourceResponseBody(content=Path(path).read_text(errors="replace"))
    except OSError as error:
        raise RequestError(f"source: cannot read {path!r}: {error.strerror}") from None
