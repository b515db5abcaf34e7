"""Requests of our own beside the protocol's, for editors that show more than DAP can say.

Any client may send them with its means for custom requests; none is needed to debug.
"""

from msgspec import Struct, field

from fxdap.wire.messages import RequestSpec


class PositionArguments(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where is this stopped thread?"""

    thread_id: int


class PositionResponseBody(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The graph's name, the node's name and 1-based position, and the number of nodes."""

    graph: str
    node: str
    position: int
    count: int


class MatchArguments(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which nodes of the graphs seen so far does this selector mean?"""

    selector: str


class MatchResponseBody(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What to offer: the selector with how many nodes it matches, then the first of them.

    A choice has a `label`, perhaps a `description`, and a `selector` to break on or an `example`
    to type instead.
    """

    choices: list[dict[str, str]]


class ReproArguments(Struct, frozen=True, kw_only=True, rename="camel"):
    """Write the stopped node as a script, with what leads from the nodes `from` to it."""

    thread_id: int
    at: str | None = None
    starts: list[str] = field(default_factory=list, name="from")


class ReproResponseBody(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The script's text, and a name for its file."""

    content: str
    file_name: str


EXTRAS: dict[str, RequestSpec] = {
    "fxdapPosition": RequestSpec(PositionArguments, PositionResponseBody),
    "fxdapMatch": RequestSpec(MatchArguments, MatchResponseBody),
    "fxdapRepro": RequestSpec(ReproArguments, ReproResponseBody),
}
