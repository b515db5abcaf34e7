"""What `fxdap run` prints: for a reader, or one JSON object per line for a program."""

import linecache
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, TextIO

import msgspec

from fxdap.cli.snapshot import Snapshot, Watch
from fxdap.cli.style import Style
from fxdap.wire.messages import Breakpoint, OutputEventBody, StackFrame, Variable

ROWS = 8
"""Rows of each part of a stop; what is left out is counted."""
GROUPS = 4
LABEL = 10
NAME = 40


class Report(Protocol):
    """Where the events of a run go, in their order."""

    def output(self, body: OutputEventBody) -> None: ...
    def breakpoint(self, selector: str, answer: Breakpoint) -> None: ...
    def stopped(self, snapshot: Snapshot) -> None: ...
    def exited(self, code: int) -> None: ...
    def error(self, message: str) -> None: ...


class JsonReport:
    """One object per line; `event` says which."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout

    def output(self, body: OutputEventBody) -> None:
        self._line("output", category=body.category or "console", output=body.output)

    def breakpoint(self, selector: str, answer: Breakpoint) -> None:
        self._line(
            "breakpoint", selector=selector, verified=answer.verified, message=answer.message
        )

    def stopped(self, snapshot: Snapshot) -> None:
        self._write(msgspec.json.encode(snapshot))

    def exited(self, code: int) -> None:
        self._line("exited", exitCode=code)

    def error(self, message: str) -> None:
        self._line("error", message=message)

    def _line(self, event: str, **values: object) -> None:
        self._write(msgspec.json.encode({"event": event, **values}))

    def _write(self, line: bytes) -> None:
        print(line.decode(), file=self._stream, flush=True)


class TextReport:
    """Stops as aligned paragraphs between the program's own output."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._style = Style.of(self._out)
        self._width = shutil.get_terminal_size().columns if self._out.isatty() else None
        self._at_line_start = True

    def output(self, body: OutputEventBody) -> None:
        stream = self._out if body.category == "stdout" else self._err
        stream.write(body.output)
        stream.flush()
        self._at_line_start = body.output.endswith("\n")

    def breakpoint(self, selector: str, answer: Breakpoint) -> None:
        if not answer.verified:
            self._note(f"--break {selector}: {answer.message or 'not verified'}")

    def stopped(self, snapshot: Snapshot) -> None:
        self._fresh_line()
        style = self._style
        print(style.bold(_headline(snapshot)), file=self._out)
        if snapshot.exception is not None:
            print(style.red(_indent(_exception_text(snapshot))), file=self._out)
        for frame in snapshot.frames[:1]:
            print(style.cyan(self._fit(f"  {_listing_line(frame)}")), file=self._out)
        for label, rows in _parts(snapshot):
            self._part(label, list(rows))
        print(file=self._out, flush=True)

    def exited(self, code: int) -> None:
        if code:
            self._note(f"exited with code {code}")

    def error(self, message: str) -> None:
        self._note(f"error: {message}")

    def _part(self, label: str, rows: list[tuple[str, str]]) -> None:
        width = min(NAME, max((len(name) for name, _ in rows), default=0))
        for number, (name, value) in enumerate(rows):
            head = label if number == 0 else ""
            line = f"  {head:<{LABEL}}{name:<{width}}  {value}".rstrip()
            line = self._fit(line)
            start = 2 + LABEL
            print(self._style.dim(line[:start]) + line[start:], file=self._out)

    def _fit(self, line: str) -> str:
        line = line.replace("\n", " ")
        if self._width is None or len(line) <= self._width:
            return line
        return line[: self._width - 1] + "…"

    def _note(self, text: str) -> None:
        self._fresh_line()
        print(f"fxdap: {text}", file=self._err, flush=True)

    def _fresh_line(self) -> None:
        if not self._at_line_start:
            print(file=self._out, flush=True)
            self._at_line_start = True


def _headline(snapshot: Snapshot) -> str:
    why = snapshot.description or snapshot.reason
    if snapshot.breakpoints:
        why += ": " + ", ".join(snapshot.breakpoints)
    elif snapshot.text and snapshot.exception is None:
        why += f": {snapshot.text}"
    return why


def _exception_text(snapshot: Snapshot) -> str:
    exception = snapshot.exception
    if exception is None:
        return ""
    return f"{exception.exception_id}: {exception.description or ''}".rstrip(": ")


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _parts(snapshot: Snapshot) -> Iterator[tuple[str, Iterable[tuple[str, str]]]]:
    yield "Stack", _bounded([_frame_row(frame) for frame in snapshot.frames[1:]])
    for name, variables in snapshot.scopes.items():
        if name == "Env":
            yield name, _env_rows(variables)
        else:
            yield name, _bounded([_variable_row(variable) for variable in variables])
    yield "Watch", [_watch_row(watch) for watch in snapshot.watches]


def _bounded(rows: list[tuple[str, str]], limit: int = ROWS) -> list[tuple[str, str]]:
    if len(rows) <= limit:
        return rows
    return [*rows[:limit], (f"… {len(rows) - limit} more", "")]


def _env_rows(variables: list[Variable]) -> list[tuple[str, str]]:
    """The values computed last, which the next nodes are about to read; then the groups."""
    values = [_variable_row(variable) for variable in variables if variable.type]
    groups = [_variable_row(variable) for variable in variables if not variable.type]
    earlier = [(f"… {len(values) - ROWS} before", "")] if len(values) > ROWS else []
    return [*earlier, *values[-ROWS:], *_bounded(groups, GROUPS)]


def _listing_line(frame: StackFrame) -> str:
    """The whole line of the listing where it can be read, else the frame's short name."""
    path = frame.source.path if frame.source else None
    line = linecache.getline(path, frame.line).strip() if path else ""
    return line if line.startswith("%") else frame.name


def _frame_row(frame: StackFrame) -> tuple[str, str]:
    if frame.source is None:
        return frame.name, ""
    path = frame.source.path
    place = _short_path(path) if path else frame.source.name or ""
    return frame.name, f"{place}:{frame.line}"


def _short_path(path: str) -> str:
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path


def _variable_row(variable: Variable) -> tuple[str, str]:
    return variable.name, variable.value


def _watch_row(watch: Watch) -> tuple[str, str]:
    if watch.error is not None:
        return watch.expression, f"error: {watch.error}"
    return watch.expression, watch.result or ""
