"""All watches of a session: which programs they look at, and how."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.engine.stops import Stop
from fxdap.engine.watches.data import data_watch, is_on_writes
from fxdap.engine.watches.finite import FiniteWatch
from fxdap.engine.watches.holding import Holding
from fxdap.engine.watches.in_place import InPlaceWatch
from fxdap.engine.watches.past import PastWatch
from fxdap.engine.watches.recorded import MetaWatch
from fxdap.engine.watches.rerun import OneTimeNodes
from fxdap.engine.watches.screens import Screens
from fxdap.engine.watches.watcher import ProgramWatch, Watcher

if TYPE_CHECKING:
    from fxdap.engine.debugger import Debugger
    from fxdap.engine.thread import DebugThread

FILTERS = ("nan", "inf", "meta", "mutation")


class Watches:
    """What is watched. The server thread changes it, user threads take over at their next stretch.

    `version` counts the changes; a frame that finds it changed asks for a new watcher.
    """

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._programs: weakref.WeakKeyDictionary[Program, ProgramWatch]
        self._programs = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()
        self.found_active: bool | None = False
        """Whether anything is watched; None where nobody has asked since the last change."""
        self.version = 0

    def changed(self) -> None:
        """The filters or breakpoints are others now."""
        with self._lock:
            self._programs.clear()
            self.found_active = None
            self.version += 1

    @property
    def active(self) -> bool:
        """Whether anything is watched at all."""
        found = self.found_active
        return self._find_out() if found is None else found

    def _find_out(self) -> bool:
        with self._lock:  # what changes meanwhile is found out the next time
            filters = any(name in self._debugger.exceptions.enabled for name in FILTERS)
            active = filters or any(map(is_on_writes, self._debugger.breakpoints.all()))
            self.found_active = active
            return active

    def watcher(self, frame: Frame, start: int) -> Watcher | None:
        """What looks at the values of a run from node `start` on; None if it has nothing to."""
        watch = self._watch(frame.program)
        if not watch.one_time.are_current():
            watch = self._renew(frame.program)
        return Watcher(watch, frame, start) if watch else None

    def edited(self, thread: DebugThread, what: str) -> Stop | None:
        """The stop that the user's last changes amount to, by data breakpoints; None if none."""
        changed = thread.take_changed()
        for frame in reversed(thread.frames) if changed and self.active else ():
            data = self._watch(frame.program).data
            found = data.edited(frame, changed) if data is not None else []
            hits = self._debugger.breakpoints.judge(found, frame)
            if hits.stops:
                text = hits.text or f"{what} wrote into the value"
                return Stop(reason=hits.reason, text=text, breakpoint_ids=hits.ids)
        return None

    def past(self, frame: Frame) -> PastWatch | None:
        """What looks at the nodes of a run that ran already; None if nothing is watched."""
        watch = self._watch(frame.program) if self.active else None
        return PastWatch(watch, frame) if watch else None

    def places(self, program: Program) -> Iterable[int]:
        """The nodes before which everything that ran so far must be looked at."""
        if not self.active:
            return ()
        watch = self._watch(program)
        return watch.places if watch else ()

    def _watch(self, program: Program) -> ProgramWatch:
        with self._lock:
            found = self._programs.get(program)
            if found is None:
                found = self._programs[program] = self._make(program)
            return found

    def _renew(self, program: Program) -> ProgramWatch:
        """Modules were switched to training or back, so other nodes may not run twice."""
        with self._lock:
            self._programs.pop(program, None)
        self._debugger.breakpoints.bind(program)
        return self._watch(program)

    def _make(self, program: Program) -> ProgramWatch:
        only = self._selected(program)
        floats = {name: nodes for name, nodes in only.items() if name in ("nan", "inf")}
        finite, one_time = FiniteWatch(program, floats) if floats else None, OneTimeNodes(program)
        data = data_watch(program, self._debugger.breakpoints.all())
        alone = len(only) == len(floats) and data is None
        on_the_way = alone and finite is not None and finite.is_on_all
        return ProgramWatch(
            finite=finite,
            meta=MetaWatch(program, only["meta"]) if "meta" in only else None,
            in_place=InPlaceWatch(program, only["mutation"]) if "mutation" in only else None,
            data=data,
            one_time=one_time,
            holding=Holding(),
            screens=Screens(program, one_time.indices) if on_the_way else None,
        )

    def _selected(self, program: Program) -> dict[str, frozenset[int] | None]:
        """The filters that are on, each with the nodes it is for; None: all of them."""
        filters = self._debugger.exceptions
        selected: dict[str, frozenset[int] | None] = {}
        for name in FILTERS:
            if name not in filters.enabled:
                continue
            condition = filters.conditions.get(name)
            only = None if condition is None else frozenset(condition.match(program).indices)
            if only is None or only:
                selected[name] = only
        return selected
