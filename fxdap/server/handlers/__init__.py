"""Request handlers, one module per group of requests. Importing this registers them all."""

from fxdap.server.handlers import (
    breakpoints,
    data_breakpoints,
    evaluate,
    exceptions,
    execution,
    extras,
    lifecycle,
    sources,
    stack,
    step_in,
    variables,
)

__all__ = [
    "breakpoints",
    "data_breakpoints",
    "evaluate",
    "exceptions",
    "execution",
    "extras",
    "lifecycle",
    "sources",
    "stack",
    "step_in",
    "variables",
]
