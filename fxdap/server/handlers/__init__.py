"""Request handlers, one module per group of requests. Importing this registers them all."""

from fxdap.server.handlers import (
    breakpoints,
    data_breakpoints,
    disassembly,
    evaluate,
    exceptions,
    execution,
    extras,
    lifecycle,
    locations,
    memory,
    modules,
    sources,
    stack,
    step_in,
    variables,
)

__all__ = [
    "breakpoints",
    "data_breakpoints",
    "disassembly",
    "evaluate",
    "exceptions",
    "execution",
    "extras",
    "lifecycle",
    "locations",
    "memory",
    "modules",
    "sources",
    "stack",
    "step_in",
    "variables",
]
