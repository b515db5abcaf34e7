"""symbolic_trace with the user's source line of every node, which torch's own leaves out."""

import functools
import linecache
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.fx import GraphModule, Node, Tracer
from torch.fx.proxy import TracerBase

from fxdap.graphs.patches import Patches
from fxdap.view.source import RawFrame, remember

_TRACE = Tracer.trace.__code__
_DEPTH_LIMIT = 200


class SourceTracer(Tracer):
    """torch's Tracer with stack traces.

    Readers of `node.stack_trace` drop torch's own frames (see `fxdap.view.source`). They are not
    torch's `record_stack_traces`: the first of those imports Inductor, which takes seconds.
    """

    def create_node(self, *args: Any, **kwargs: Any) -> Node:
        node = super().create_node(*args, **kwargs)
        frames = _frames_within_trace(sys._getframe(1))
        if frames and not node.stack_trace:
            node.stack_trace = _as_text(tuple(reversed(frames)))
        return node


def trace_with_sources(root: torch.nn.Module | Callable[..., Any]) -> GraphModule:
    """Like `torch.fx.symbolic_trace`, with `stack_trace` in every node's meta."""
    tracer = SourceTracer()
    graph = tracer.trace(root)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


def remember_sources(patches: Patches) -> None:
    """Note the source lines of graphs that the user's own code traces from now on.

    They are noted beside the nodes: the user's graph and its meta stay as torch makes them.
    """
    original = TracerBase.create_node

    @functools.wraps(original)
    def create_node(tracer: TracerBase, *args: Any, **kwargs: Any) -> Node:
        node = original(tracer, *args, **kwargs)
        frames = _frames_within_trace(sys._getframe(1))
        if frames and "stack_trace" not in node.meta:
            remember(node, reversed(frames))
        return node

    patches.set(TracerBase, "create_node", create_node)


@functools.lru_cache(maxsize=1024)
def _as_text(frames: tuple[RawFrame, ...]) -> str:
    """As Python writes a traceback; a loop makes many nodes at the same place."""
    lines = [(*frame, linecache.getline(frame[0], frame[1])) for frame in frames]
    return "".join(traceback.StackSummary.from_list(lines).format()).strip()


def _frames_within_trace(frame: FrameType | None) -> list[RawFrame]:
    """Python frames below `Tracer.trace`, innermost first; none when no trace is going on."""
    frames: list[RawFrame] = []
    while frame is not None and len(frames) < _DEPTH_LIMIT:
        code = frame.f_code
        if code is _TRACE:
            return frames
        frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return []
