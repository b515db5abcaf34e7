"""modules: the nn.Module trees of the graphs, with what they hold."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.server.module_rows import module_rows
from fxdap.server.registry import serves
from fxdap.wire.messages import (
    Capabilities,
    ColumnDescriptor,
    ModulesArguments,
    ModulesResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


COLUMNS = [
    ColumnDescriptor(attribute_name="className", label="Class", type="string"),
    ColumnDescriptor(attribute_name="parameters", label="Parameters", type="number"),
    ColumnDescriptor(attribute_name="bytes", label="Bytes", type="number"),
]


@serves(
    "modules",
    offers=Capabilities(supports_modules_request=True, additional_module_columns=COLUMNS),
)
def modules(session: Session, arguments: ModulesArguments) -> Struct:
    """Every module of every graph, outermost first, with its parameters' count and bytes."""
    roots = [p for p in session.debugger.programs() if p.parent is None]
    rows = [row for program in roots for row in module_rows(program)]
    start = arguments.start_module or 0
    stop = start + (arguments.module_count or len(rows))
    return ModulesResponseBody(modules=list(islice(rows, start, stop)), total_modules=len(rows))
