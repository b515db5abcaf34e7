"""Headings in the console for what log points write inside of graphs that nodes run."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fxdap.engine.frame import Frame
from fxdap.wire.messages import OutputEventBody

_Place = tuple[int, int]
"""A frame, by its identity, and the node that runs a graph."""


class LogGroups:
    """Lines from inside of a loop, a branch or a nested graph stand under the node that runs it.

    One chain of groups is open at a time: it is closed by a line from elsewhere, by a stop, and
    when the run ends. `_lock` guards it, as several threads may log.
    """

    def __init__(self, send: Callable[[OutputEventBody], None]) -> None:
        self._send = send
        self._lock = threading.RLock()
        self._open: list[_Place] = []

    def enter(self, frame: Frame) -> None:
        """A line of this run follows."""
        callers: list[Frame] = []
        while frame.parent is not None:
            frame = frame.parent
            callers.insert(0, frame)
        chain = [(id(caller), caller.position) for caller in callers]
        with self._lock:
            same = [a == b for a, b in zip(self._open, chain, strict=False)]
            kept = same.index(False) if False in same else len(same)
            self.close(kept)
            for caller, place in list(zip(callers, chain, strict=True))[kept:]:
                name = caller.program.qualified_name(caller.position)
                self._send(OutputEventBody(category="console", group="start", output=f"%{name}\n"))
                self._open.append(place)

    def left(self, frame: Frame) -> None:
        """The run is over."""
        with self._lock:
            frames = [ident for ident, _ in self._open]
            if id(frame) in frames:
                self.close(frames.index(id(frame)))

    def close(self, kept: int = 0) -> None:
        """End the groups but for the outermost ones."""
        with self._lock:
            while len(self._open) > kept:
                self._open.pop()
                self._send(OutputEventBody(category="console", group="end", output=""))
