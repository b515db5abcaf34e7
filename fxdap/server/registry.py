"""Which requests are served, when, and which capabilities they bring.

The table of request x state: `ANYONE` is served in every state; `ALWAYS` too, except that a
process that listens serves it only to a client that has shown the token; `READY` once launch or
attach was accepted; `STOPPED` needs the thread that the arguments name (by threadId, frameId or
variablesReference) to be stopped, and is answered with `notStopped` otherwise; `LANDED` is the
same, but waits for a step that is under way. `on_thread`
handlers run on that stopped thread, since they read tensors or run code; `deferred` ones are
given the request and answer it later; those that take a run back or ahead (`moves`) are not
interrupted half way, but may be given up; all others run on the server thread and never block.
What is `quick` every time is served by the thread that reads it, unless something is before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from fxdap.wire.messages import Capabilities

if TYPE_CHECKING:
    from fxdap.server.session import Session

Handler = Callable[["Session", Any], Struct | None]


class When(Enum):
    """The states in which a request is served."""

    ANYONE = "always, to clients without a token too"
    ALWAYS = "always"
    READY = "after launch or attach"
    STOPPED = "while the thread is stopped"
    LANDED = "while the thread is stopped, or once its step has landed"


@dataclass(frozen=True)
class Served:
    """One request's handler and its conditions."""

    command: str
    handler: Handler
    when: When
    on_thread: bool
    deferred: bool
    moves: bool
    quick: bool


HANDLERS: dict[str, Served] = {}


def is_quick(command: str) -> bool:
    """Whether a request never takes long on the thread that reads it."""
    served = HANDLERS.get(command)
    return served is not None and served.quick


_offered: dict[str, Any] = {}
OFFERED_BY: dict[str, str] = {}
"""The request that makes a capability true, by the capability's field."""


def serves(
    command: str,
    when: When = When.READY,
    *,
    on_thread: bool = False,
    deferred: bool = False,
    moves: bool = False,
    quick: bool = False,
    offers: Capabilities | None = None,
) -> Callable[[Handler], Handler]:
    """Register a handler, with the capabilities that it makes true."""

    def register(handler: Handler) -> Handler:
        HANDLERS[command] = Served(
            command, handler, when, on_thread, deferred, moves, quick or on_thread
        )
        if offers is not None:
            offer(offers, command)
        return handler

    return register


def offer(offers: Capabilities, command: str) -> None:
    """Note the capabilities that a request makes true."""
    given = {k: v for k, v in structs.asdict(offers).items() if v is not None}
    _offered.update(given)
    OFFERED_BY.update(dict.fromkeys(given, command))


def capabilities() -> Capabilities:
    """What `initialize` answers: the union of what the registered handlers offer."""
    return Capabilities(**_offered)
