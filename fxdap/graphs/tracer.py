"""symbolic_trace that remembers the user's source line of every node."""

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Tracer


class SourceTracer(Tracer):
    """torch's Tracer with stack traces, which `symbolic_trace` leaves out.

    Readers of `node.stack_trace` drop torch's own frames (see `fxdap.view.source`).
    """

    record_stack_traces = True


def trace_with_sources(root: torch.nn.Module | Callable[..., Any]) -> GraphModule:
    """Like `torch.fx.symbolic_trace`, with `stack_trace` in every node's meta."""
    tracer = SourceTracer()
    graph = tracer.trace(root)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
