"""Where a resumed thread is to stop next: the steps."""

from __future__ import annotations

from dataclasses import dataclass

from torch.fx import Node
from torch.nn import Module

from fxdap.engine.bodies import iterates
from fxdap.engine.frame import Frame
from fxdap.engine.stops import Reason
from fxdap.view.source import user_frames, user_line


@dataclass
class Plan:
    """Stop before node `index` of `frame`, or in what replaces it when the frame ends.

    A graph is straight-line code, so every step's landing place is known when it begins: the
    plan flags that one place, and the run up to it goes at full speed.
    """

    frame: Frame | None
    index: int = 0
    into: bool = False
    entry: bool = False
    only: Module | None = None
    """The graph module to step into, if not the first one that begins."""
    reason: Reason = "step"
    by_line: bool = False
    """In a caller, land on another line of the user's source than the call's."""

    def arm(self) -> None:
        """Flag the landing place; past the end of a graph it lies in the caller."""
        while self.frame is not None and self.index >= len(self.frame.program):
            caller = self.frame.parent
            self.frame, self.index = caller, _after_call(caller, by_line=self.by_line)
        if self.frame is not None:
            self.index = self.frame.landing(self.index)
            self.frame.mark(self.index)

    def disarm(self) -> None:
        """Take the flag back."""
        if self.frame is not None:
            self.frame.unmark(self.index)

    def reached(self, frame: Frame, index: int) -> bool:
        """Whether arriving before node `index` of `frame` completes the step."""
        return frame is self.frame and index >= self.index

    def entered(self, frame: Frame) -> None:
        """A new graph begins on this thread: a step-in, or a step off the end, lands in it."""
        if self.frame is None or (self.into and self._is_wanted(frame)):
            self.disarm()
            self.frame, self.index, self.into = frame, 0, False
            self.arm()

    def _is_wanted(self, frame: Frame) -> bool:
        body = frame.program.origin or frame.program
        return frame.parent is self.frame and self.only in (None, body.module)


def _after_call(caller: Frame | None, *, by_line: bool) -> int:
    if caller is None:
        return 0
    return next_line(caller) if by_line else caller.position + 1


def step_over(frame: Frame) -> Plan:
    """Stop before the node after the current one; after a loop's body, in its next iteration."""
    at_end = frame.position == len(frame.program) - 1
    return Plan(frame, _next_index(frame), into=at_end and iterates(frame.program))


def step_in(frame: Frame, only: Module | None = None) -> Plan:
    """Stop in the first graph that the current node runs, or in `only`; else like `step_over`."""
    return Plan(frame, _next_index(frame), into=True, only=only)


def step_out(frame: Frame) -> Plan:
    """Stop after the innermost module the current node stands in, or after the graph."""
    return Plan(frame, frame.program.end_of_scope(frame.position))


def step_out_line(frame: Frame) -> Plan:
    """Stop after the innermost module, or the graph, and after the line that calls it."""
    nodes, index = frame.program.nodes, frame.program.end_of_scope(frame.position)
    calls = {(f.file, f.line) for f in user_frames(nodes[frame.position])[:-1]}
    while calls and index < len(nodes) and _line(nodes[index]) in (None, *calls):
        index += 1
    return Plan(frame, index, by_line=True)


def step_line(frame: Frame) -> Plan:
    """Stop before the first node that comes from another line of the user's source."""
    here = _line(frame.program.nodes[frame.position])
    return step_over(frame) if here is None else Plan(frame, next_line(frame), by_line=True)


def next_line(frame: Frame) -> int:
    """Index of the first later node of another line; may be the graph's end."""
    nodes, start = frame.program.nodes, frame.position
    here = _line(nodes[start])
    if here is None:
        return start + 1
    others = (i for i in range(start + 1, len(nodes)) if _line(nodes[i]) not in (None, here))
    return next(others, len(nodes))


def _line(node: Node) -> tuple[str, int] | None:
    found = user_line(node)
    return None if found is None else (found.file, found.line)


def next_graph() -> Plan:
    """Stop before the first node of the next graph (stop on entry)."""
    return Plan(None, entry=True)


def _next_index(frame: Frame) -> int:
    return frame.position + 1
