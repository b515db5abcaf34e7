"""A small debugger front end for tests: it answers every stop on the user's own thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from fxdap.engine.breakpoints import Breakpoint
from fxdap.engine.conditions import HitCondition, LogMessage
from fxdap.engine.debugger import Debugger, Options
from fxdap.engine.frame import Frame
from fxdap.engine.locations import SelectorLocation, SourceLocation
from fxdap.engine.plan import Plan, step_in, step_out, step_over
from fxdap.engine.program import Program
from fxdap.engine.selectors import parse_selector
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from fxdap.graphs.runs import GraphRuns
from fxdap.view.tensor_kind import unwrapped

Answer = Callable[["Driver", DebugThread, Stop], Plan | Travel | None]

_STEPS = {"over": step_over, "in": step_in, "out": step_out}


@dataclass(frozen=True)
class Seen:
    """One stop as it was when it happened."""

    reason: str
    place: str
    text: str
    ids: tuple[int, ...]
    stack: tuple[str, ...]
    error: BaseException | None = field(default=None, repr=False)


class Driver:
    """Debugs the graphs that run inside `with driver:`.

    `script` says what to do at each stop: "over", "in", "out", or "go" (also when it is used up).
    `at_stop` is called first, on the stopped thread; a Plan or Travel it returns wins over the
    script.
    """

    def __init__(
        self,
        script: str = "",
        at_stop: Answer | None = None,
        *,
        entry: bool = False,
        **options: Any,
    ) -> None:
        self.debugger = Debugger(self, Options(stop_on_entry=entry, **options))
        self.runs = GraphRuns(self.debugger)
        self.stops: list[Seen] = []
        self.logs: list[str] = []
        self.notices: list[str] = []
        self.news: list[tuple[str, str, int]] = []
        self.started: list[DebugThread] = []
        self.forever: str | None = None
        self.added: list[Program] = []
        self._script = script.split()
        self._at_stop = at_stop
        self._set: dict[str, list[Breakpoint]] = {}

    def __enter__(self) -> Driver:
        self.runs.install()
        self.runs.watch_tracing()
        return self

    def __exit__(self, *error: object) -> None:
        self.runs.uninstall()
        self.debugger.end()

    @property
    def places(self) -> list[str]:
        """Where it stopped: `%relu` before it, `after %relu`, `raised %relu`."""
        return [stop.place for stop in self.stops]

    @property
    def reasons(self) -> list[str]:
        return [stop.reason for stop in self.stops]

    def break_on(
        self,
        selector: str,
        condition: str | None = None,
        hit: str | None = None,
        log: str | None = None,
    ) -> Breakpoint:
        """Add a function breakpoint."""
        return self._add(
            "function", SelectorLocation(parse_selector(selector)), condition, hit, log
        )

    def break_at(self, file: str, line: int, *, after: bool = False) -> Breakpoint:
        """Add a breakpoint on a line of Python."""
        return self._add(file, SourceLocation(file, line, after))

    def clear(self) -> None:
        """Remove every breakpoint."""
        for group in self._set:
            self._set[group] = []
            self.debugger.breakpoints.replace(group, [])

    def _add(
        self,
        group: str,
        location: Any,
        condition: str | None = None,
        hit: str | None = None,
        log: str | None = None,
    ) -> Breakpoint:
        added = Breakpoint(
            id=1 + sum(map(len, self._set.values())),
            location=location,
            condition=condition,
            hit_condition=HitCondition.parse(hit) if hit else None,
            log_message=LogMessage.parse(log) if log else None,
        )
        self._set.setdefault(group, []).append(added)
        self.debugger.breakpoints.replace(group, self._set[group])
        return added

    # What the engine tells its listener.

    def stopped(self, thread: DebugThread, stop: Stop) -> None:
        frame = thread.frames[-1]
        self.stops.append(
            Seen(
                reason=stop.reason,
                place=place_of(frame),
                text=stop.text,
                ids=stop.breakpoint_ids,
                stack=tuple(f"{f.program.name}%{f.node.name}" for f in reversed(thread.frames)),
                error=stop.exception,
            )
        )
        plan = self._at_stop(self, thread, stop) if self._at_stop is not None else None
        if isinstance(plan, Travel):
            thread.go_to(plan)
        else:
            thread.resume(plan or self._scripted(frame))

    def _scripted(self, frame: Frame) -> Plan | None:
        word = self._script.pop(0) if self._script else self.forever or "go"
        return None if word == "go" else _STEPS[word](frame)

    def resumed(self, thread: DebugThread) -> None:
        pass

    def thread_started(self, thread: DebugThread) -> None:
        self.started.append(thread)

    def thread_ended(self, thread: DebugThread) -> None: ...

    def preparing(self, name: str, size: int) -> AbstractContextManager[None]:
        return nullcontext()

    def program_added(self, program: Program) -> None:
        self.added.append(program)

    def programs_bound(self) -> None: ...

    def logged(self, text: str, frame: Frame) -> None:
        self.logs.append(text)

    def log_ended(self, frame: Frame) -> None: ...

    def told(self, text: str, file: str, line: int) -> None:
        self.news.append((text, file, line))

    def is_held(self, thread: DebugThread) -> bool:
        return False

    def noticed(self, text: str) -> None:
        self.notices.append(text)


def place_of(frame: Frame) -> str:
    """A frame's position as the tests write it."""
    name = f"%{frame.program.qualified_name(frame.position)}"
    return name if frame.phase == "before" else f"{frame.phase} {name}"


def plain_values(module: torch.fx.GraphModule, *inputs: Any) -> dict[str, Any]:
    """Every node's value as torch's own Interpreter computes it."""
    interpreter = torch.fx.Interpreter(module, garbage_collect_values=False)
    interpreter.run(*inputs)
    return {node.name: value for node, value in interpreter.env.items()}


class _Snapshots(torch.fx.Interpreter):
    """Remembers what each node gave, before a later one writes into it."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.snapshots: dict[str, Any] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        value = super().run_node(n)
        self.snapshots[n.name] = _copy(value)
        return value


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage().clone()
        empty = torch.empty(0, dtype=value.dtype)
        return empty.set_(storage, value.storage_offset(), value.size(), value.stride())
    if type(value) in (tuple, list):
        return type(value)(map(_copy, value))
    return value


def plain_snapshots(module: torch.fx.GraphModule, *inputs: Any) -> dict[str, Any]:
    """Every node's value as it was when the node had just run."""
    interpreter = _Snapshots(module)
    interpreter.run(*inputs)
    return interpreter.snapshots


def kept_values(frame: Frame) -> dict[str, Any]:
    """Every register of a frame by node name."""
    names = [node.name for node in frame.program.nodes]
    return dict(zip(names, frame.registers, strict=True))


def assert_same(left: Any, right: Any, where: str = "value") -> None:
    """Equal bit for bit, in structure, types, dtypes and strides."""
    if isinstance(left, torch.Tensor):
        assert isinstance(right, torch.Tensor), where
        assert (left.dtype, left.shape, left.stride()) == (
            right.dtype,
            right.shape,
            right.stride(),
        ), where
        assert torch.equal(_bits(left), _bits(right)), where
        return
    assert type(left) is type(right) or _both_sequences(left, right), where
    if isinstance(left, dict):
        assert list(left) == list(right), where
        for key in left:
            assert_same(left[key], right[key], f"{where}[{key!r}]")
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right), where
        for index, (a, b) in enumerate(zip(left, right, strict=True)):
            assert_same(a, b, f"{where}[{index}]")
    elif not isinstance(left, torch.nn.Module):
        assert left == right or left is right or (left != left and right != right), where


def _both_sequences(left: Any, right: Any) -> bool:
    """torch.fx wraps lists and dicts of arguments in immutable ones; a call unwraps them."""
    return any(isinstance(left, kind) and isinstance(right, kind) for kind in (list, dict))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    plain = unwrapped(tensor).detach().contiguous()
    return plain.reshape(-1).view(torch.uint8)


def names(stops: Sequence[Seen]) -> list[str]:
    """The bare node names of stops."""
    return [stop.place.rpartition("%")[2] for stop in stops]
