"""The user's own source lines behind a node, read from its recorded stack trace."""

import linecache
import os
import re
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch.fx import Node

_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+), in (.+)$')
_CARETS = re.compile(r"[\s~^]+")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")
"""What Dynamo calls the rest of a function after a graph break."""
_NOT_USER_CODE = tuple(
    os.path.join(folder, "")
    # A trace in a `.pt2`, or of one of torch's passes, may name torch's files from its root.
    for folder in (*torch.__path__, str(Path(__file__).parents[1]), "torch")
)


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """One Python frame of the trace; `code` is its source text, "" when none was recorded."""

    file: str
    line: int
    function: str
    code: str = ""


RawFrame = tuple[str, int, str]
"""File, line and function."""

_remembered: "weakref.WeakKeyDictionary[Node, tuple[RawFrame, ...]]" = weakref.WeakKeyDictionary()


def remember(node: Node, frames: Iterable[RawFrame]) -> None:
    """Note where a node was made, outermost first, beside a graph that records nothing itself."""
    _remembered[node] = tuple(frame for frame in frames if _is_user_file(frame[0]))


def forget_all() -> None:
    """Drop what `remember` noted."""
    _remembered.clear()


@lru_cache(maxsize=8192)
def _frames_of(frames: tuple[RawFrame, ...]) -> tuple[SourceFrame, ...]:
    return tuple(
        SourceFrame(file, line, function, linecache.getline(file, line).strip())
        for file, line, function in frames
    )


def user_frames(node: Node) -> tuple[SourceFrame, ...]:
    """The frames that created a node, outermost first, without torch's and fxdap's own."""
    trace = node.meta.get("stack_trace")
    if trace is None and node in _remembered:
        return _frames_of(_remembered[node])
    return _parse(trace) if isinstance(trace, str) else ()


def plain_function(name: str) -> str:
    """A function's own name, also for the rest of it that runs after a graph break."""
    return _RESUMED.sub(r"\1", name)


def user_line(node: Node) -> SourceFrame | None:
    """The innermost user frame: the line that the user would say made this node."""
    frames = user_frames(node)
    return frames[-1] if frames else None


@lru_cache(maxsize=8192)
def _parse(trace: str) -> tuple[SourceFrame, ...]:
    return tuple(frame for frame in _frames(trace.splitlines()) if _is_user_file(frame.file))


def _frames(lines: list[str]) -> Iterator[SourceFrame]:
    head: re.Match[str] | None = None
    code: list[str] = []
    for line in [*lines, ""]:
        found = _FRAME.match(line)
        text = line.strip()
        # AOT autograd adds a sentence of its own, which is not indented.
        if head is not None and (found or not line[:1].isspace()):
            yield SourceFrame(head[1], int(head[2]), plain_function(head[3]), " ".join(code))
            head, code = None, []
        if found:
            head = found
        elif head is not None and not _CARETS.fullmatch(text):
            code.append(text)


def _is_user_file(file: str) -> bool:
    return not file.startswith(("<", *_NOT_USER_CODE))
