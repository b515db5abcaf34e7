"""locations: where a row's node stands in the listing, and where its value comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.server.registry import serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import LocationsArguments, LocationsResponseBody, Source

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves("locations")
def locations(session: Session, arguments: LocationsArguments) -> Struct:
    """The file and line of a reference that a variable carried: declarations of nodes, their
    users, the source line of a value, the definition of a target.
    """
    place = session.places.get(arguments.location_reference)
    if place is None:
        raise RequestError(f"locationReference {arguments.location_reference} is unknown")
    file, line = place
    return LocationsResponseBody(
        source=Source(name=Path(file).name, path=file), line=line, column=1
    )
