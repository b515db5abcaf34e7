"""Who debugs compiled graphs now. A process has one debugger at a time, or none."""

from __future__ import annotations

import sys

from fxdap.engine.debugger import Debugger
from fxdap.engine.program import Program
from fxdap.graphs.compile.news import News


class Active:
    """The debugger of the session that is on; compiled graphs ask at each call."""

    def __init__(self) -> None:
        self.debugger: Debugger | None = None
        self.sessions = 0
        """How many there have been."""
        self.news = News()
        self.family: list[Program] = []
        """The programs of compiled graphs, which hold parts of the same functions."""

    def begin(self, debugger: Debugger) -> None:
        """Graphs that run from now on are this debugger's."""
        self.family = []
        self.news = News()
        if "torch._dynamo" in sys.modules:
            self.news.skip()
        self.sessions += 1
        self.debugger = debugger

    def end(self, debugger: Debugger) -> None:
        """Graphs run as they are again, unless another session has begun."""
        if self.debugger is debugger:
            self.debugger = None
            self.family = []


ACTIVE = Active()
