"""Graph breaks and recompilations, with their reasons, as the user should hear of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from traceback import FrameSummary
from types import CodeType
from typing import Any, NamedTuple

import torch

from fxdap.graphs.compile.frames import compiled_code, function_name

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_COMPILE_ID = re.compile(r"^!?\d+/\d+(?:_\d+)?: ")
_GUARD = re.compile(r"(?P<guard>.*?\S)\s{2,}# (?:(?P<code>.*?)  # )?(?P<place>\S+:\d+) in \S+")
"""A failed guard, and in a comment the user's line that asked for it."""

_LONG = 300
_REASONS = {"step_unsupported": "what this line calls breaks it"}


class Item(NamedTuple):
    """One message and the user's line that it is about."""

    text: str
    file: str
    line: int


class News:
    """What Dynamo has noted since it was last asked.

    It keeps the reasons of graph breaks in one list and those of failed guards by function.
    Read while a graph is compiled, so that the compile lock keeps other threads away.
    """

    def __init__(self) -> None:
        self._breaks = 0
        self._failures: dict[CodeType, int] = {}
        self._told: set[Item] = set()

    def read(self, title: str = "") -> Iterator[Item]:
        """What is new when graph `title` is made; a break met again while recompiling is not."""
        for item in (*self._recompiled(title), *self._broken()):
            if item not in self._told:
                self._told.add(item)
                yield item

    def skip(self) -> None:
        """What happened so far is not news."""
        for _ in self.read():
            pass

    def _broken(self) -> Iterator[Item]:
        reasons: list[Any] = _noted("graph_break_reasons", [])
        start = self._breaks if self._breaks <= len(reasons) else 0
        self._breaks = len(reasons)
        for reason in reasons[start:]:
            place = _user_line(reason.user_stack)
            if place is not None:
                yield Item(_break_text(reason.reason, place), place.filename, place.lineno or 0)

    def _recompiled(self, title: str) -> Iterator[Item]:
        failures: dict[CodeType, list[Any]] = _noted("guard_failures", {})
        for code, reasons in list(failures.items()):
            start = self._failures.get(code, 0)
            self._failures[code] = len(reasons)
            new = reasons[start if start <= len(reasons) else 0 :]
            if new:
                what = f"{function_name(code)} ({_place(code.co_filename, code.co_firstlineno)})"
                graph = f", as {title}" if code is compiled_code() else ""
                text = f"torch.compile: {what} is compiled again{graph}: {_failed(new)}"
                yield Item(text, code.co_filename, code.co_firstlineno)


def _noted(name: str, missing: Any) -> Any:
    """One of Dynamo's own notes, which a version of torch may not keep."""
    import torch._dynamo.utils as notes

    return getattr(notes, name, missing)


def _user_line(stack: Iterable[FrameSummary]) -> FrameSummary | None:
    frames = list(stack)
    mine = [frame for frame in frames if not frame.filename.startswith(_TORCH)] or frames
    return mine[-1] if mine else None


def _break_text(reason: str, place: FrameSummary) -> str:
    head, _, rest = reason.strip().partition("\n")
    head = _REASONS.get(head, head)
    explained = re.search(r"Explanation: (.*?)(?=\n\s*Hint:|\n\s*\n|\Z)", rest, re.DOTALL)
    why = f"{head}. {' '.join(explained[1].split())}" if explained else head
    code = f" `{place.line}`" if place.line else ""
    where = _place(place.filename, place.lineno)
    return f"torch.compile: the graph breaks at {where}{code}: {_shorten(why)}"


def _place(file: str, line: int | None) -> str:
    return f"{os.path.basename(file)}:{line}"


def _failed(reasons: list[Any]) -> str:
    return "; ".join(dict.fromkeys(_shorten(_guard_text(str(reason))) for reason in reasons))


def _guard_text(reason: str) -> str:
    text = _COMPILE_ID.sub("", reason.strip()).partition("\nUser stack trace:")[0]
    found = _GUARD.fullmatch(text.partition("\n")[0])
    if found is None:
        return text
    asked = f"`{found['code']}` at " if found["code"] else ""
    return f"{found['guard']} no longer holds ({asked}{os.path.basename(found['place'])})"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
