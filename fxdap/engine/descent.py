"""Knowing when a thread enters the user's Python: at its first line, without changing any of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Wanted = Callable[[CodeType], bool]
Entered = Callable[[FrameType], None]


class Descent:
    """Watches one node of one thread; `entered` is called once, in the frame that is wanted.

    Where Python has sys.monitoring that is used, so that other tools keep their trace functions;
    before 3.12 a trace function is set that passes everything on to the one it finds.
    `begin` and `end` belong to the thread that is watched.
    """

    def __init__(self, wanted: Wanted, entered: Entered) -> None:
        self.frame: object = None
        """The graph's frame whose node is watched."""
        self._wanted = wanted
        self._entered = entered
        self._watch: _Monitor | _Trace | None = None

    def begin(self, frame: object) -> None:
        """Watch what this thread calls from now on."""
        self.frame = frame
        self._watch = (_Monitor if sys.version_info >= (3, 12) else _Trace)(self._meet)
        self._watch.start()

    def end(self) -> None:
        """Watch no more; may be called again."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()

    def _meet(self, frame: FrameType) -> bool:
        """Whether this is what was looked for, and so the last frame that is looked at."""
        if self._watch is None or not self._wanted(frame.f_code):
            return False
        self.end()
        self._entered(frame)
        return True


class _Trace:
    """Sees calls through sys.settrace, in front of a trace function that is set already."""

    def __init__(self, meet: Callable[[FrameType], bool]) -> None:
        self._meet = meet
        self._behind: Any = None

    def start(self) -> None:
        self._behind = sys.gettrace()
        _set_trace(self._trace)

    def stop(self) -> None:
        if sys.gettrace() == self._trace:
            _set_trace(self._behind)

    def _trace(self, frame: FrameType, event: Any, argument: Any) -> Any:
        if event == "call" and self._meet(frame):
            behind = sys.gettrace()
            return behind(frame, event, argument) if behind is not None else frame.f_trace
        if self._behind is None:
            return None
        local = self._behind(frame, event, argument)
        found = sys.gettrace()
        if found != self._trace:
            # debugpy replaces its trace function by a faster one as it goes.
            self._behind = found
            _set_trace(self._trace)
        return local


def _set_trace(function: Any) -> None:
    """debugpy puts a warning in the place of sys.settrace; its own way has none."""
    set_trace = getattr(sys.modules.get("pydevd_tracing"), "SetTrace", sys.settrace)
    set_trace(function)


class _Monitor:
    """Sees calls through sys.monitoring; one tool serves all threads that are watched."""

    _lock = threading.Lock()
    _meets: dict[int, Callable[[FrameType], bool]] = {}  # noqa: RUF012
    _tool: int | None = None

    def __init__(self, meet: Callable[[FrameType], bool]) -> None:
        self._meet = meet
        self._thread = threading.get_ident()

    def start(self) -> None:
        with self._lock:
            self._meets[self._thread] = self._meet
            if len(self._meets) == 1:
                self._switch_on()

    def stop(self) -> None:
        with self._lock:
            self._meets.pop(self._thread, None)
            if not self._meets:
                self._switch_off()

    @classmethod
    def _switch_on(cls) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        free = [tool for tool in (4, 3) if monitoring.get_tool(tool) is None]
        if not free:
            return
        _Monitor._tool = free[0]
        monitoring.use_tool_id(free[0], "fxdap")
        monitoring.register_callback(free[0], monitoring.events.PY_START, cls._started)
        monitoring.set_events(free[0], monitoring.events.PY_START)

    @classmethod
    def _switch_off(cls) -> None:
        tool, _Monitor._tool = cls._tool, None
        if tool is not None:
            monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
            monitoring.set_events(tool, 0)
            monitoring.register_callback(tool, monitoring.events.PY_START, None)
            monitoring.free_tool_id(tool)

    @classmethod
    def _started(cls, code: CodeType, offset: int) -> None:
        meet = cls._meets.get(threading.get_ident())
        if meet is not None:
            meet(sys._getframe(1))
