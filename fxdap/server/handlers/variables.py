"""variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.server.registry import When, serves
from fxdap.server.variables_tree import ValueBranch
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import Capabilities, VariablesArguments, VariablesResponseBody

if TYPE_CHECKING:
    from fxdap.server.session import Session

PAGE_LIMIT = 2000
"""Indexed children given at once to a client that does not page."""


@serves(
    "variables",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_value_formatting_options=True, supports_ansi_styling=True),
)
def variables(session: Session, arguments: VariablesArguments) -> Struct:
    """The named children, the indexed ones, or both; indexed ones a page at a time."""
    reference = arguments.variables_reference
    branch = session.variables.get(reference)
    owner = session.variables.owner(reference)
    thread = session.debugger.thread(owner) if owner is not None else None
    if branch is None or thread is None:
        raise RequestError(f"variablesReference {reference} is unknown or out of date")
    items = []
    if arguments.filter != "indexed":
        items += branch.items()
    if arguments.filter != "named" and branch.indexed:
        start = arguments.start or 0
        count = min(arguments.count or branch.indexed, PAGE_LIMIT)
        items += branch.page(start, count)
    expression = branch.expression if isinstance(branch, ValueBranch) else None
    return VariablesResponseBody(
        variables=session.presenter.variables(
            items, thread, reference, expression, arguments.format
        )
    )
