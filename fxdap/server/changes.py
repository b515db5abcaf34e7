"""Values that are not what their node gave, because a later node wrote into them."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.engine.storage import extent, overlap, tensors_in
from fxdap.engine.thread import DebugThread
from fxdap.engine.write_rules import Write
from fxdap.engine.writes import find_writes, written_state, written_values

_ABOUT_GRADIENTS = ("detach_", "requires_grad_")
"""What these write is no value."""


@dataclass
class _Seen:
    """How far a frame has been looked at, and the last writer of each changed value."""

    end: int = 0
    changed: dict[int, int] = field(default_factory=dict)


_seen: weakref.WeakKeyDictionary[Frame, _Seen] = weakref.WeakKeyDictionary()
_passed: weakref.WeakKeyDictionary[Frame, int] = weakref.WeakKeyDictionary()


def changed_by(frame: Frame) -> dict[int, int]:
    """As `fxdap.engine.writes.changed_by`, for little when asked again further on."""
    seen = _seen.get(frame)
    if seen is None or seen.end > frame.cursor:
        seen = _seen[frame] = _Seen()
    writers = _writers(frame, seen.end, frame.cursor)
    if writers:
        _look(frame, writers, seen.changed)
    seen.end = frame.cursor
    return seen.changed


def change_note(program: Program, changed: Mapping[int, int], index: int) -> str:
    """`changed by %add__1`, or nothing."""
    writer = changed.get(index)
    return f"changed by %{program.nodes[writer].name}" if writer is not None else ""


def may_differ(thread: DebugThread) -> bool:
    """Whether values may be others than when this was last asked of the thread: a node has written
    in place since, or code has run that nothing is known of.
    """
    found, thread.ran_code = thread.ran_code, False
    for frame in thread.frames:
        before, now = _passed.get(frame, 0), frame.cursor
        users = frame.runs_users_interpreter and now > before
        found |= now < before or users or any(_writing(frame, before, now))
        _passed[frame] = now
    return found


def _writers(frame: Frame, start: int, end: int) -> list[int]:
    """The nodes of a stretch of which it is known what they have written."""
    return [index for index, write in _writing(frame, start, end) if not write.unknown]


def _writing(frame: Frame, start: int, end: int) -> Iterator[tuple[int, Write]]:
    found = find_writes(frame.program)
    for index in range(start, end):
        write = found.get(index)
        if write is None or frame.was_skipped(index):
            continue
        if not _keeps_values(frame.program.steps[index].target):
            yield index, write


def _keeps_values(target: object) -> bool:
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    return str(name).partition(".")[0] in _ABOUT_GRADIENTS


def _look(frame: Frame, writers: list[int], changed: dict[int, int]) -> None:
    registers = frame.registers
    shown = defaultdict(list)
    for index in range(frame.cursor):
        for tensor in tensors_in(registers[index]):
            where = extent(tensor)
            if where is not None:
                shown[where.storage].append((index, tensor))
    for writer in writers:
        written = [
            *written_values(frame.program, writer, registers),
            *written_state(frame.program, writer),
        ]
        for tensor in (t for value in written for t in tensors_in(value)):
            where = extent(tensor)
            for index, other in shown.get(where.storage, ()) if where is not None else ():
                if index < writer and overlap(other, tensor):
                    changed[index] = writer
