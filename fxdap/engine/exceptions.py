"""Exception filters: which raised errors stop, and what is known of an error."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch.utils.checkpoint

from fxdap.engine.frame import Frame
from fxdap.engine.selectors import Selector

UNWINDING: tuple[type[BaseException], ...] = tuple(
    filter(None, [getattr(torch.utils.checkpoint, "_StopRecomputationError", None)])
)
"""Not errors: a checkpoint raises it to end what it computes again as soon as it has enough."""


@dataclass
class ExceptionFilters:
    """What the client ticked. `conditions` narrows a filter to the nodes of a selector."""

    enabled: frozenset[str] = frozenset({"raised"})
    conditions: dict[str, Selector] = field(default_factory=dict)

    def wants_raised(self, frame: Frame, error: Exception) -> bool:
        """Whether to stop where `error` was raised."""
        return "raised" in self.enabled and self._selected("raised", frame)

    def wants_uncaught(self) -> bool:
        """Whether to stop when an error ends the user's program."""
        return "uncaught" in self.enabled

    def _selected(self, name: str, frame: Frame) -> bool:
        selector = self.conditions.get(name)
        return selector is None or frame.position in selector.match(frame.program).indices
