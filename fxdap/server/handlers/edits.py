"""setVariable and setExpression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct

from fxdap.engine.edits import EditError, assign
from fxdap.engine.frame import Frame, ValueUnavailableError
from fxdap.engine.names import evaluate
from fxdap.server.present import expression_of
from fxdap.server.registry import When, serves
from fxdap.server.variables_tree import Branch, Item, ValueBranch
from fxdap.view.type_text import meta_type_text, type_text
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    SetExpressionArguments,
    SetExpressionResponseBody,
    SetVariableArguments,
    SetVariableResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

_SYMBOL = re.compile(r"\b[su]\d+")
"""A size that the metadata leaves open."""
_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


@serves(
    "setVariable",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_set_variable=True),
)
def set_variable(session: Session, arguments: SetVariableArguments) -> Struct:
    """Change what one row of the Variables view shows."""
    reference = arguments.variables_reference
    branch = session.variables.get(reference)
    if branch is None or branch.frame is None:
        raise RequestError(f"variablesReference {reference} is unknown or out of date")
    item = _item(branch, arguments.name)
    parent = branch.expression if isinstance(branch, ValueBranch) else None
    target = expression_of(item, parent)
    if target is None or item.lazy is not None:
        raise RequestError(
            f"{arguments.name!r} cannot be changed: it is not stored, but worked out"
        )
    value = _change(session, branch.frame, target, arguments.value)
    if isinstance(value, torch.Tensor) and not isinstance(item.value, torch.Tensor):
        value = _item(branch, arguments.name).value  # elements are shown as numbers
    row = session.presenter.row(value)
    child = session.presenter.branch(value, target, row, branch.frame)
    ident = 0
    if child is not None:
        ident = session.variables.add((reference, item.name), branch.frame.thread.id, child)
    return SetVariableResponseBody(
        value=row.text,
        type=row.type,
        variables_reference=ident,
        named_variables=row.named or None,
        indexed_variables=row.indexed or None,
    )


def _item(branch: Branch, name: str) -> Item:
    """The row that a client names: by its name, or an element by its index."""
    digits = name.strip("[]")
    if branch.indexed and digits.isdecimal() and int(digits) < branch.indexed:
        return branch.page(int(digits), 1)[0]
    for item in branch.items():
        if item.name == name:
            return item
    raise RequestError(f"there is no {name!r} here")


@serves(
    "setExpression",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_set_expression=True),
)
def set_expression(session: Session, arguments: SetExpressionArguments) -> Struct:
    """Assign to an expression, such as one in the Watch view."""
    thread = session.debugger.current_thread()
    frame = thread.top
    if arguments.frame_id is not None:
        frame = session.frame_view(arguments.frame_id).frame or frame
    if frame is None:
        raise RequestError.not_stopped()
    target = arguments.expression.strip().removeprefix("%")
    value = _change(session, frame, target, arguments.value)
    row = session.presenter.row(value)
    child = session.presenter.branch(value, target, row, frame)
    key = ("evaluate", thread.id, frame.program.path, target, "watch")
    return SetExpressionResponseBody(
        value=row.text,
        type=row.type,
        variables_reference=session.variables.add(key, thread.id, child) if child else 0,
        named_variables=row.named or None,
        indexed_variables=row.indexed or None,
    )


def _change(session: Session, frame: Frame, target: str, text: str) -> Any:
    """Assign, tell the views, and return the value that is there now."""
    frame.thread.take_changed()
    try:
        old = _old(session, frame, target)
        value = _as_before(_number(text, frame, session.scratch), old)
        assign(frame, target, value, session.scratch)
        now = evaluate(target, frame, session.scratch)
    except (EditError, ValueUnavailableError) as error:
        raise RequestError(str(error), show_user=True) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RequestError(f"{type(error).__name__}: {error}", show_user=True) from None
    _warn(session, frame, target, now)
    session.edited(frame.thread, f"the change of {target}")
    return now


def _number(text: str, frame: Frame, scratch: dict[str, Any]) -> Any:
    known = _NUMBERS.get(text.strip().lower())
    return known if known is not None else evaluate(text.strip().removeprefix("%"), frame, scratch)


def _old(session: Session, frame: Frame, target: str) -> Any:
    try:
        return evaluate(target, frame, session.scratch)
    except Exception:
        return None


def _as_before(value: Any, old: Any) -> Any:
    """Numbers typed for a tensor become one like it."""
    typed = isinstance(value, (list, tuple)) or (
        isinstance(value, (int, float, complex)) and isinstance(old, torch.Tensor) and not old.dim()
    )
    if not isinstance(old, torch.Tensor) or not typed:
        return value
    try:
        return torch.tensor(value, dtype=old.dtype, device=old.device)
    except (TypeError, ValueError, RuntimeError):
        return value


def _warn(session: Session, frame: Frame, target: str, value: Any) -> None:
    """Say so when a node's value is no longer what the graph's metadata recorded."""
    index = frame.program.by_name.get(target)
    recorded = type_text(frame.program.nodes[index]) if index is not None else ""
    now = meta_type_text(value)
    if recorded and now != recorded and not _SYMBOL.search(recorded):
        session.events.say(
            f"%{target} is {now} now; the graph's metadata recorded {recorded}, so later nodes may "
            f"fail or compute something else",
            "important",
        )
