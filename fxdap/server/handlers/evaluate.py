"""evaluate and completions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from fxdap.engine.console import recorded
from fxdap.engine.frame import Frame, ValueUnavailableError
from fxdap.engine.names import Names, evaluate, execute_statements
from fxdap.server.breakpoint_table import is_listing
from fxdap.server.clipboard import clipboard_text
from fxdap.server.present import formatted
from fxdap.server.registry import When, serves
from fxdap.server.source_hover import is_pure, names_node, node_assigned
from fxdap.view.symbols import left_open, with_symbols
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    CompletionItem,
    CompletionsArguments,
    CompletionsResponseBody,
    EvaluateArguments,
    EvaluateResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

COMPLETION_LIMIT = 200


@serves(
    "evaluate",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_evaluate_for_hovers=True, supports_clipboard_context=True),
)
def evaluate_(session: Session, arguments: EvaluateArguments) -> Struct:
    """Evaluate Python at a frame; the console also runs statements."""
    frame = _frame(session, arguments.frame_id)
    text = arguments.expression.strip().removeprefix("%")
    if arguments.context == "repl" and not _is_expression(text):
        return _run_statements(session, frame, arguments.expression)
    if arguments.context == "hover":
        return _hover(session, frame, text, arguments)
    if arguments.context == "repl":
        value = _typed(session, frame, text, lambda: _value(session, frame, text))
    else:
        value = _value(session, frame, text)
    if arguments.context == "clipboard":
        return EvaluateResponseBody(result=clipboard_text(value), variables_reference=0)
    shown = _shown(session, frame, value, text, arguments.context)
    return replace(shown, result=formatted(value, shown.result, arguments.format))


def _hover(session: Session, frame: Frame, text: str, arguments: EvaluateArguments) -> Struct:
    """Only what runs no code; in Python source also the node that the hovered name got."""
    if not is_pure(text):
        raise RequestError("a hover evaluates names, attributes and items only")
    path, line, column = _hovered_place(arguments)
    if is_listing(path) and not names_node(path, line, column):
        raise RequestError("in a listing only the names of nodes have values")
    try:
        value = _value(session, frame, text)
    except RequestError:
        index = node_assigned(frame, text, path, line, column) if path else None
        if index is None:
            raise
        text = frame.program.nodes[index].name
        value = frame.value(index)
    return _shown(session, frame, value, text, "hover")


def _hovered_place(arguments: EvaluateArguments) -> tuple[str, int, int]:
    """File, line and column; the file is "" for a client that does not tell."""
    path = (arguments.source.path if arguments.source is not None else None) or ""
    if "://" in path:  # a VS Code that works on a remote machine names its own scheme here
        path = unquote(urlsplit(path).path)
    return path if arguments.line is not None else "", arguments.line or 1, arguments.column or 1


def _shown(
    session: Session, frame: Frame, value: Any, text: str, context: str | None
) -> EvaluateResponseBody:
    session.presenter.refresh(frame.thread)
    row = session.presenter.row(value)
    reference = 0
    index = frame.program.by_name.get(text)
    unbound = left_open(frame.program.nodes[index]) if index is not None else None
    branch = session.presenter.branch(value, text, row, frame, unbound)
    if branch is not None:
        key = ("evaluate", frame.thread.id, frame.program.path, text, context)
        reference = session.variables.add(key, frame.thread.id, branch)
    return EvaluateResponseBody(
        result=session.presenter.styled(with_symbols(row.text, unbound, value)),
        type=row.type,
        variables_reference=reference,
        named_variables=row.named or None,
        indexed_variables=row.indexed or None,
        memory_reference=session.presenter.memory_reference(value),
    )


def _frame(session: Session, frame_id: int | None) -> Frame:
    if frame_id is not None:
        view = session.frame_view(frame_id)
        if view.frame is not None:
            return view.frame
    top = session.debugger.current_thread().top
    if top is None:
        raise RequestError.not_stopped()
    return top


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):  # ValueError: a null byte
        return False
    return True


def _value(session: Session, frame: Frame, text: str) -> Any:
    try:
        return evaluate(text, frame, session.scratch)
    except ValueUnavailableError as error:
        raise RequestError(str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RequestError(f"{type(error).__name__}: {error}") from None


def _typed(session: Session, frame: Frame, text: str, run: Callable[[], Any]) -> Any:
    """Run what was typed in the console; what it wrote in the run can be stepped back over."""
    try:
        return recorded(frame, text, run)
    finally:
        if frame.thread.changed:
            session.edited(frame.thread, text)


def _run_statements(session: Session, frame: Frame, text: str) -> Struct:
    def run() -> None:
        execute_statements(text, frame, session.scratch)

    try:
        _typed(session, frame, text, run)
    except ValueUnavailableError as error:
        raise RequestError(str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RequestError(f"{type(error).__name__}: {error}") from None
    return EvaluateResponseBody(result="", variables_reference=0)


@serves(
    "completions",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(
        supports_completions_request=True, completion_trigger_characters=[".", "%"]
    ),
)
def completions(session: Session, arguments: CompletionsArguments) -> Struct:
    """Node names, special names and attributes that continue the text at the cursor."""
    frame = _frame(session, arguments.frame_id)
    lines = arguments.text.split("\n")
    line = lines[(arguments.line or 1) - 1] if (arguments.line or 1) <= len(lines) else ""
    before = line[: max(arguments.column - 1, 0)]
    match = re.search(r"(?<![\w.])((?:\w+\.)*)%?(\w*)$", before)
    if match is None:  # attributes of a call or an item: asking for them could run anything
        return CompletionsResponseBody(targets=[])
    owner, prefix = match[1].rstrip("."), match[2]
    names = _attributes(session, frame, owner) if owner else list(Names(frame, session.scratch))
    start = len(before) - len(prefix)
    found = [n for n in names if n.startswith(prefix) and (prefix or not n.startswith("_"))]
    items = [
        CompletionItem(
            label=n, type="property" if owner else "variable", start=start, length=len(prefix)
        )
        for n in found[:COMPLETION_LIMIT]
    ]
    return CompletionsResponseBody(targets=items)


def _attributes(session: Session, frame: Frame, owner: str) -> list[str]:
    try:
        return dir(evaluate(owner, frame, session.scratch))
    except Exception:
        return []
