"""Why a thread is stopped."""

from dataclasses import dataclass, field
from typing import Literal

Reason = Literal[
    "entry",
    "step",
    "breakpoint",
    "function breakpoint",
    "data breakpoint",
    "instruction breakpoint",
    "exception",
    "pause",
    "uncaught",
    "goto",
    "restart",
]

Phase = Literal["before", "after", "raised"]


@dataclass(frozen=True, kw_only=True)
class Stop:
    """One stop: what it is shown as, which breakpoints were hit, and the exception if any."""

    reason: Reason
    text: str = ""
    title: str = ""
    """What it is called where "Paused on ..." would say less."""
    breakpoint_ids: tuple[int, ...] = ()
    exception: BaseException | None = field(default=None, repr=False)
