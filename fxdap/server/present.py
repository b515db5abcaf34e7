"""From items of the variables tree to DAP variables: numbered, formatted, cached."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from fxdap.engine.thread import DebugThread
from fxdap.server.variables_tree import Branch, Item, LazyBranch, ValueBranch
from fxdap.view.budget import Budget
from fxdap.view.summary import summarize, type_name
from fxdap.wire.messages import Variable, VariablePresentationHint

if TYPE_CHECKING:
    from fxdap.server.session import Session

VALUE_LIMIT = 1000


class Presenter:
    """Formats values within a time budget; a tensor's line is kept until the tensor changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lines: dict[int, tuple[weakref.ref[torch.Tensor], int, str]] = {}

    def clear(self) -> None:
        """Forget the cached lines."""
        self._lines.clear()

    def variables(
        self, items: list[Item], thread: DebugThread, parent: int, expression: str | None
    ) -> list[Variable]:
        """Number and format sibling items."""
        budget = Budget()
        return [self.variable(item, thread, parent, expression, budget) for item in items]

    def variable(
        self, item: Item, thread: DebugThread, parent: int, expression: str | None, budget: Budget
    ) -> Variable:
        """Number and format one item under the variable (or scope) `parent`."""
        path = _expression(item, expression)
        if item.lazy is not None:
            branch: Branch | None = LazyBranch(item.name, item.lazy)
        elif item.branch is not None:
            branch = item.branch
        elif item.value is None and item.text is not None:
            branch = None
        else:
            branch = ValueBranch(item.value, path)
        reference = 0
        if branch is not None and (not isinstance(branch, ValueBranch) or branch.expandable):
            reference = self._session.variables.add((parent, item.name), thread.id, branch)
        return Variable(
            name=item.name,
            value=self._text(item, budget),
            type=item.type or (None if _is_group(item) else type_name(item.value)),
            presentation_hint=_hint(item),
            evaluate_name=path,
            variables_reference=reference,
            named_variables=branch.named if branch is not None and reference else None,
            indexed_variables=(branch.indexed or None)
            if branch is not None and reference
            else None,
        )

    def _text(self, item: Item, budget: Budget) -> str:
        if item.lazy is not None:
            return ""
        if item.text is not None:
            return item.text
        return self.line(item.value, budget)

    def line(self, value: Any, budget: Budget | None = None) -> str:
        """The one-line text of a value."""
        plain = type(value) in (torch.Tensor, torch.nn.Parameter)
        if not plain or not isinstance(value, torch.Tensor) or value.is_inference():
            return summarize(value, budget)
        known = self._lines.get(id(value))
        if known is not None and known[0]() is value and known[1] == value._version:
            return known[2]
        text = summarize(value, budget)
        self._lines[id(value)] = (weakref.ref(value), value._version, text)
        return text


def _is_group(item: Item) -> bool:
    return item.value is None and (item.branch is not None or item.text is not None)


def _expression(item: Item, parent: str | None) -> str | None:
    if item.accessor is None:
        return None
    if item.accessor.startswith((".", "[")):
        return f"{parent}{item.accessor}" if parent else None
    return item.accessor


def _hint(item: Item) -> VariablePresentationHint | None:
    if item.lazy is not None:
        return VariablePresentationHint(lazy=True)
    if _is_group(item):
        return VariablePresentationHint(kind="virtual", attributes=["readOnly"])
    return VariablePresentationHint(kind=item.kind) if item.kind else None
