"""From items of the variables tree to DAP variables: numbered, formatted, cached."""

from __future__ import annotations

import re
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from msgspec.structs import replace

from fxdap.engine.frame import Frame
from fxdap.engine.thread import DebugThread
from fxdap.server.changes import may_differ
from fxdap.server.kept_variables import KeptVariables, version
from fxdap.server.variables_tree import Branch, Item, LazyBranch, ValueBranch
from fxdap.view.budget import Budget
from fxdap.view.children import count_children
from fxdap.view.summary import summarize, type_name
from fxdap.view.symbols import Open, with_symbols
from fxdap.wire.messages import ValueFormat, Variable, VariablePresentationHint

if TYPE_CHECKING:
    from fxdap.server.session import Session


_NOT_FINITE = re.compile(r"(?<![\w.])(?:nan|-?inf)(?: \d[\d,]*)?(?![\w.])")

ROW_LIMIT = 5000
"""Rows kept at once."""


class Row(NamedTuple):
    """How a value is shown: everything but its name."""

    text: str
    type: str
    named: int
    indexed: int


class _Page(NamedTuple):
    """What rows that are shown together share: where they stand, and what they may cost."""

    thread: DebugThread
    parent: int
    expression: str | None
    budget: Budget
    frame: Frame | None


class Presenter:
    """Formats values within a time budget; a tensor's row is kept until the tensor changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rows: dict[int, tuple[weakref.ref[torch.Tensor], int, Row]] = {}
        self._kept = KeptVariables()

    def clear(self) -> None:
        """Forget the kept rows."""
        self._rows.clear()
        self._kept.clear()

    def refresh(self, thread: DebugThread) -> None:
        """Forget the kept rows if a thread's values may not be what they show any more."""
        if may_differ(thread):
            self.clear()

    def variables(
        self,
        items: list[Item],
        thread: DebugThread,
        parent: int,
        expression: str | None,
        value_format: ValueFormat | None = None,
    ) -> list[Variable]:
        """Number and format sibling items."""
        self.refresh(thread)
        above = self._session.variables.get(parent)
        frame = above.frame if above is not None else None
        page = _Page(thread, parent, expression, Budget(), frame)
        found = [self._variable(item, page) for item in items]
        if value_format is None or not value_format.hex:
            return found
        pairs = zip(found, items, strict=True)
        return [replace(v, value=formatted(i.value, v.value, value_format)) for v, i in pairs]

    def _variable(self, item: Item, page: _Page) -> Variable:
        kept = self._kept.get(page.parent, item, page.expression)
        if kept is not None:
            self._renew(kept, item, page)
            return kept
        made = self._made(item, page)
        if page.budget.has_time():
            self._kept.keep(page.parent, item, page.expression, made)
        return made

    def _renew(self, kept: Variable, item: Item, page: _Page) -> None:
        """Let the number in a kept row stand for the value again."""
        if kept.variables_reference:
            branch = ValueBranch(item.value, kept.evaluate_name, item.left_open)
            branch.frame = page.frame
            self._session.variables.renew(kept.variables_reference, page.thread.id, branch)

    def _made(self, item: Item, page: _Page) -> Variable:
        path = expression_of(item, page.expression)
        row, branch = self._shown(item, path, page.budget)
        reference = 0
        if branch is not None:
            branch.frame = page.frame
            key = page.parent, item.name
            reference = self._session.variables.add(key, page.thread.id, branch)
        return Variable(
            name=item.name,
            value=self.styled(_text(item, row)),
            type=row.type or None,
            presentation_hint=_hint(item),
            evaluate_name=path,
            variables_reference=reference,
            named_variables=row.named or None,
            indexed_variables=row.indexed or None,
            memory_reference=self.memory_reference(item.value),
            declaration_location_reference=self._session.places.number(item.declared),
            value_location_reference=self._session.places.number(item.origin),
        )

    def styled(self, text: str) -> str:
        """NaN and Inf in red, for clients that show colours."""
        if not self._session.client.supports_ansi_styling:
            return text
        return _NOT_FINITE.sub("\x1b[31m\\g<0>\x1b[39m", text)

    def memory_reference(self, value: Any) -> str | None:
        """What a client that shows memory reads a tensor's by."""
        if not self._session.client.supports_memory_references:
            return None
        return self._session.memory.reference(value)

    def _shown(self, item: Item, path: str | None, budget: Budget) -> tuple[Row, Branch | None]:
        if item.lazy is not None:
            return Row("", "", 1, 0), LazyBranch(item.name, item.lazy)
        if _is_group(item):
            return Row(item.text or "", item.type or "", 0, 0), item.branch
        row = self.row(item.value, budget)
        return row, self.branch(item.value, path, row, left_open=item.left_open)

    def branch(
        self,
        value: Any,
        path: str | None,
        row: Row,
        frame: Frame | None = None,
        left_open: Open | None = None,
    ) -> Branch | None:
        """What a value shows when it is opened; None if that is nothing."""
        if not row.named and not row.indexed:
            return None
        branch = ValueBranch(value, path, left_open)
        branch.frame = frame
        return branch

    def prepare(self, value: Any) -> None:
        """Have the row of a tensor at hand before it is asked for."""
        if version(value) is not None:
            self.row(value, Budget())

    def row(self, value: Any, budget: Budget | None = None) -> Row:
        """How a value is shown."""
        now = version(value)
        if now is None:
            return _row(value, budget)
        known = self._rows.get(id(value))
        if known is not None and known[0]() is value and known[1] == now:
            return known[2]
        row = _row(value, budget)
        if budget is None or budget.has_time():
            self._keep(value, now, row)
        return row

    def _keep(self, tensor: torch.Tensor, version: int, row: Row) -> None:
        if len(self._rows) >= ROW_LIMIT:
            self._rows.clear()
        key = id(tensor)

        def forget(gone: weakref.ref[torch.Tensor]) -> None:
            known = self._rows.get(key)
            if known is not None and known[0] is gone:
                del self._rows[key]

        self._rows[key] = (weakref.ref(tensor, forget), version, row)


def formatted(value: Any, text: str, value_format: ValueFormat | None) -> str:
    """Whole numbers in hexadecimal where that is asked for."""
    wanted = value_format is not None and value_format.hex and type(value) is int
    return hex(value) if wanted else text


def _text(item: Item, row: Row) -> str:
    text = row.text
    if item.left_open is not None:
        text = with_symbols(text, item.left_open, item.value)
    return f"{text}  {item.note}" if item.note else text


def _row(value: Any, budget: Budget | None) -> Row:
    counts = count_children(value)
    return Row(summarize(value, budget), type_name(value), counts.named, counts.indexed)


def _is_group(item: Item) -> bool:
    return item.value is None and (item.branch is not None or item.text is not None)


def expression_of(item: Item, parent: str | None) -> str | None:
    """The Python that gives a row's value, if any does."""
    if item.accessor is None:
        return None
    if item.accessor.startswith((".", "[")):
        return f"{parent}{item.accessor}" if parent else None
    return item.accessor


def _hint(item: Item) -> VariablePresentationHint | None:
    if item.lazy is not None:
        return VariablePresentationHint(lazy=True)
    if _is_group(item):
        attributes = ["readOnly"] if item.accessor is None else None
        return VariablePresentationHint(kind="virtual", attributes=attributes)
    return VariablePresentationHint(kind=item.kind) if item.kind else None
