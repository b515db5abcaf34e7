"""Leaf modules: a graph of one call of a module, traced when Step In asks for it."""

from fxdap.graphs.leaves.trace import NotTraceableError, Traced, trace_call

__all__ = ["NotTraceableError", "Traced", "trace_call"]
