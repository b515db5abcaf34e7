"""stackTrace and scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.current_frames import current_frames
from fxdap.engine.frame import Frame
from fxdap.engine.thread import DebugThread
from fxdap.server.addresses import address
from fxdap.server.env_tree import env_items, own_scopes, value_items
from fxdap.server.frames import StackEntry, stack_entries
from fxdap.server.handles import FrameView
from fxdap.server.node_scope import meta_items, node_items
from fxdap.server.registry import When, serves
from fxdap.server.variables_tree import Branch, Group, ValueBranch
from fxdap.wire.messages import (
    Capabilities,
    Scope,
    ScopesArguments,
    ScopesResponseBody,
    StackFrame,
    StackTraceArguments,
    StackTraceResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves(
    "stackTrace",
    When.STOPPED,
    quick=True,
    offers=Capabilities(supports_delayed_stack_trace_loading=True),
)
def stack_trace(session: Session, arguments: StackTraceArguments) -> Struct:
    """The node, the modules around it, calling graphs, then the user's Python frames."""
    thread = session.stopped_thread(arguments)
    entries = stack_entries(thread, current_frames().get(thread.native_id))
    start = arguments.start_frame or 0
    count = arguments.levels or len(entries)
    frames = [
        _frame(session, thread, start + i, entry)
        for i, entry in enumerate(entries[start : start + count])
    ]
    return StackTraceResponseBody(stack_frames=frames, total_frames=len(entries))


def _frame(session: Session, thread: DebugThread, depth: int, entry: StackEntry) -> StackFrame:
    view = FrameView(thread, entry.frame, entry.scope)
    ident = session.frames.add((thread.id, depth), thread.id, view)
    return StackFrame(
        id=ident,
        name=entry.name,
        source=entry.source,
        line=entry.line,
        column=1 if entry.line else 0,
        presentation_hint=entry.hint,
        instruction_pointer_reference=_instruction(entry),
        module_id=_module_id(entry),
        can_restart=None if entry.frame is not None else False,
    )


def _instruction(entry: StackEntry) -> str | None:
    """The address of a graph's node."""
    frame = entry.frame
    if frame is None or entry.scope is not None:
        return None
    return f"{address(frame.program, frame.position):#x}"


def _module_id(entry: StackEntry) -> str | None:
    """The row of `modules` that a frame stands in."""
    if entry.frame is None or entry.scope is None:
        return None
    return f"{entry.frame.program.root.name}:{entry.scope}"


@serves("scopes", When.STOPPED, quick=True)
def scopes(session: Session, arguments: ScopesArguments) -> Struct:
    """What can be looked at in a frame."""
    view = session.frame_view(arguments.frame_id)
    found = [
        _scope(session, view, name, branch, hint, expensive)
        for name, branch, hint, expensive in _branches(view)
    ]
    return ScopesResponseBody(scopes=found)


def _branches(view: FrameView) -> list[tuple[str, Branch, str | None, bool]]:
    frame, node_level = view.frame, view.scope is None
    if frame is None:
        return []
    around = own_scopes(frame.program.scopes(frame.position))
    path = (around[-1].path if around else "") if node_level else view.scope or ""
    found: list[tuple[str, Branch, str | None, bool]] = []
    if node_level:
        found.append(("Node", Group(lambda: node_items(frame)), "arguments", False))
        returned = _returned(view.thread, frame)
        if returned is not None:
            just_ran = value_items(frame, [returned])
            found.append(("Returned", Group(lambda: just_ran), "returnValue", False))
    found.append(("Env", Group(lambda: env_items(frame, path)), "locals", False))
    module = _submodule(frame.program.module, path)
    found.append(("Module", ValueBranch(module, _module_expression(path)), None, True))
    if node_level and frame.runs_users_interpreter:
        found.append(("Interpreter", ValueBranch(frame.interpreter, "self"), None, False))
    if node_level:
        found.append(("Meta", Group(lambda: meta_items(frame)), None, True))
    return found


def _returned(thread: DebugThread, frame: Frame) -> int | None:
    """The node that has just run: the current one after it ran, else the one a step ran over."""
    if frame.phase == "after":
        return frame.position
    ahead = thread.stop is not None and not thread.stop.title
    stepped = thread.stepped and ahead and frame is thread.top and frame.phase == "before"
    return frame.position - 1 if stepped and frame.position > 0 else None


def _scope(
    session: Session, view: FrameView, name: str, branch: Branch, hint: str | None, expensive: bool
) -> Scope:
    path = view.frame.program.path if view.frame is not None else ""
    key = ("scope", view.thread.id, path, view.scope, name)
    branch.frame = view.frame
    reference = session.variables.add(key, view.thread.id, branch)
    return Scope(
        name=name,
        presentation_hint=hint,
        variables_reference=reference,
        named_variables=None if expensive else branch.named,
        indexed_variables=None if expensive else branch.indexed or None,
        expensive=expensive,
    )


def _submodule(module: object, path: str) -> object:
    for atom in path.split(".") if path else ():
        found = getattr(module, atom, None)
        if found is None:
            return module
        module = found
    return module


def _module_expression(path: str) -> str:
    expression = "module"
    for atom in path.split(".") if path else ():
        expression += f".{atom}" if atom.isidentifier() else f"[{atom}]"
    return expression
