"""Where a resumed thread is to stop next: the steps."""

from __future__ import annotations

from dataclasses import dataclass

from torch.nn import Module

from fxdap.engine.bodies import iterates
from fxdap.engine.frame import Frame
from fxdap.engine.stops import Reason
from fxdap.view.source import user_line


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

    def arm(self) -> None:
        """Flag the landing place; past the end of a graph it lies in the caller."""
        while self.frame is not None and self.index >= len(self.frame.program):
            caller = self.frame.parent
            self.frame, self.index = caller, _after_call(caller)
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


def _after_call(caller: Frame | None) -> int:
    return 0 if caller is None else caller.position + 1


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


def step_line(frame: Frame) -> Plan:
    """Stop before the first node that comes from another line of the user's source."""
    nodes, start = frame.program.nodes, frame.position
    here = user_line(nodes[start])
    if here is None:
        return step_over(frame)
    for index in range(start + 1, len(nodes)):
        line = user_line(nodes[index])
        if line is not None and (line.file, line.line) != (here.file, here.line):
            return Plan(frame, index)
    return Plan(frame, len(nodes))


def next_graph() -> Plan:
    """Stop before the first node of the next graph (stop on entry)."""
    return Plan(None, entry=True)


def _next_index(frame: Frame) -> int:
    return frame.position + 1
