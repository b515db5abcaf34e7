"""The call stack of a stopped thread: node, modules, calling graphs, the user's Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

import torch
from torch.fx import Node

from fxdap.engine.bodies import iterates
from fxdap.engine.frame import Frame
from fxdap.engine.thread import DebugThread
from fxdap.server.events import listing_source
from fxdap.view.node_text import target_name
from fxdap.view.scope import ModuleScope
from fxdap.view.source import SourceFrame, plain_function, user_frames
from fxdap.wire.messages import Source

_FOLDERS = (*torch.__path__, str(Path(__file__).parents[1]), os.path.dirname(os.__file__))
_HIDDEN = (*(os.path.join(folder, "") for folder in _FOLDERS), "<")
"""How the files begin whose frames are not the user's."""


@dataclass(frozen=True)
class StackEntry:
    """One line of the stack; `frame` is None for Python frames and for regions of a graph."""

    name: str
    source: Source | None
    line: int
    frame: Frame | None = None
    scope: str | None = None
    hint: Literal["normal", "label", "subtle"] | None = None


def stack_entries(thread: DebugThread, python: FrameType | None) -> list[StackEntry]:
    """The whole stack, top first."""
    entries = [entry for frame in reversed(thread.frames) for entry in _graph_entries(frame)]
    return entries + [_python_entry(frame) for frame in _user_python(python)]


def _graph_entries(frame: Frame) -> Iterator[StackEntry]:
    program = frame.program
    node = frame.node
    yield StackEntry(
        name=f"%{program.qualified_name(frame.position)}  {target_name(node)}{_iteration(frame)}",
        source=listing_source(program),
        line=program.line(frame.position),
        frame=frame,
    )
    for region in reversed(program.regions_around(frame.position)):
        yield StackEntry(
            name=region.label,
            source=listing_source(program),
            line=program.line(region.start),
            hint="label",
        )
    places = _places(program.scopes(frame.position), _frames_of(node))
    for scope, place in reversed(places):
        yield StackEntry(
            name=f"{scope.path}  {scope.class_name}" if scope else _title(frame),
            source=Source(name=os.path.basename(place.file), path=place.file) if place else None,
            line=place.line if place else 0,
            frame=frame,
            scope=scope.path if scope else "",
            hint=None if place else "subtle",
        )


def _title(frame: Frame) -> str:
    program = frame.program
    title = f"{program.name} {program.path}" if program.path else program.name
    return f"{title}{_iteration(frame)}"


def _iteration(frame: Frame) -> str:
    return f"  (iteration {frame.call})" if iterates(frame.program) else ""


def _frames_of(node: Node) -> tuple[SourceFrame, ...]:
    """The frames down to the node; of an input, which belongs to the root, the root's only.

    Dynamo stamps inputs with the line that first uses them.
    """
    frames = user_frames(node)
    first = next((i for i, frame in enumerate(frames) if frame.function == "forward"), None)
    return frames[: first + 1] if node.op == "placeholder" and first is not None else frames


def _places(
    scopes: tuple[ModuleScope, ...], frames: tuple[SourceFrame, ...]
) -> list[tuple[ModuleScope | None, SourceFrame | None]]:
    """The root and each module around a node with the line its forward stands at.

    The frames of `forward` functions belong to the modules in order, outermost first; modules
    of torch itself stand at the line that calls them, since the trace leaves torch's own lines
    out. Helper functions between two forwards are passed over, but the innermost one shows where
    the node was made.
    """
    forwards = [i for i, frame in enumerate(frames) if frame.function == "forward"]
    modules: list[ModuleScope | None] = [None, *scopes]
    own = [m for m in modules if m is None or not m.qualified_class.startswith("torch.nn.")]
    lines: dict[int, SourceFrame] = {}
    for module, index in zip(own, forwards, strict=False):
        lines[id(module)] = frames[index]
    if frames:
        lines[id(own[-1])] = frames[-1]
    places: list[tuple[ModuleScope | None, SourceFrame | None]] = []
    for module in modules:
        place = lines.get(id(module))
        if place is None and module is not None and module not in own:
            place = places[-1][1]
        places.append((module, place))
    return places


def _user_python(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        file = frame.f_code.co_filename
        # The engine's generated code carries the listing's name; the graph's own frames show it.
        shown = not file.startswith(_HIDDEN) and not file.endswith(".fxgraph")
        if shown and os.path.exists(file):
            yield frame
        frame = frame.f_back


def _python_entry(frame: FrameType) -> StackEntry:
    file = frame.f_code.co_filename
    return StackEntry(
        name=plain_function(getattr(frame.f_code, "co_qualname", frame.f_code.co_name)),
        source=Source(name=os.path.basename(file), path=os.path.abspath(file)),
        line=frame.f_lineno or 0,
        hint="subtle",
    )
