"""Random walks through random programs: after every move all is as in a fresh run to that point.

`FXDAP_WALKS=2000 pytest tests/engine/test_time_travel_walks.py` is the long form.
"""

from __future__ import annotations

import os
import random
from functools import lru_cache, partial
from typing import Any, cast

import pytest
import torch
from torch import fx

from fxdap.engine.edits import assign
from fxdap.engine.frame import Frame
from fxdap.engine.moves import go_to, restart, step_back
from fxdap.engine.plan import Plan, step_in, step_over
from fxdap.engine.program import SKIPPED, Program
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.engine.travel import Travel
from tests.engine.driver import Driver, assert_same
from tests.engine.oracle import Level, Oracle
from tests.engine.random_programs import SIZE, ProgramWriter

WALKS = int(os.environ.get("FXDAP_WALKS", "100"))
BATCH = 20
MOVES = 14
WALKS_PER_PROGRAM = 4


@lru_cache(maxsize=1)
def _program(seed: int) -> tuple[fx.GraphModule, tuple[torch.Tensor, ...], Oracle]:
    writer = ProgramWriter(seed)
    module, inputs = writer.write(), writer.inputs()
    return module, inputs, Oracle(module, inputs)


class Walk:
    """Makes random moves at every stop of a run, then lets it end."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.random = random.Random(seed)
        self.module, inputs, self.oracle = _program(seed // WALKS_PER_PROGRAM)
        self.oracle.random = torch.get_rng_state()
        self.oracle.reset(self.module)
        self.inputs = tuple(value.clone() for value in inputs)
        self.levels: list[Level] = []
        self.moves: list[str] = []
        self.grad = self.random.random() < 0.2

    def run(self) -> None:
        driver = Driver(at_stop=self._at_stop, entry=True)
        with driver, torch.set_grad_enabled(self.grad):
            try:
                result = self.module(*self.inputs)
            except RuntimeError:
                # Views made without gradients cannot be written with them: torch says so.
                assert driver.reasons[-1] == "exception"
                return
        while len(self.levels) > 1:
            self._leave_level()
        if not self.levels[0].jumped():
            self._check_end(result)

    def _check_end(self, result: Any) -> None:
        level = self.levels[0]
        level.catch_up(len(level.program))
        with _same_modes(self.grad):
            module, registers = self.oracle.run([level])
        assert_same(result, registers[0][-1], "result")
        assert_same(dict(self.module.state_dict()), dict(module.state_dict()), "state")

    def _at_stop(self, driver: Driver, thread: DebugThread, stop: Stop) -> Plan | Travel | None:
        self._catch_up(thread.frames)
        self._check(thread.frames)
        if len(self.moves) >= MOVES:
            return None
        move = self.random.choice(
            ["over", "over", "in", "far", "back", "back", "back", "edit", "goto", "skip", "restart"]
        )
        self.moves.append(move)
        made: Plan | Travel | None = getattr(self, f"_{move}")(thread, thread.frames[-1])
        return made

    def _catch_up(self, frames: list[Frame]) -> None:
        """What ran since the last stop."""
        for depth, frame in enumerate(frames):
            while len(self.levels) > depth and self.levels[depth].frame is not frame:
                self._leave_level()
            if depth == len(self.levels):
                self.levels.append(Level(frame))
        while len(self.levels) > len(frames):
            self._leave_level()
        for level in self.levels:
            level.catch_up(level.frame.cursor)

    def _leave_level(self) -> None:
        """The innermost graph's run is over."""
        inner = self.levels.pop()
        self.levels[-1].ended(inner)

    def _check(self, frames: list[Frame]) -> None:
        mine = self._snapshot(self.module, [list(f.registers) for f in frames])
        state = torch.get_rng_state()
        try:
            with _same_modes(self.grad):
                module, registers = self.oracle.run(self.levels)
                theirs = self._snapshot(module, registers)
        finally:
            torch.set_rng_state(state)
        assert_same(mine, theirs, f"after {self.moves}")

    def _snapshot(self, module: fx.GraphModule, registers: list[list[Any]]) -> dict[str, Any]:
        """Everything that the program and its surroundings show."""
        names = [[node.name for node in level.program.nodes] for level in self.levels]
        env = [
            dict(zip(names[depth][: level.cursor], registers[depth], strict=False))
            for depth, level in enumerate(self.levels)
        ]
        return {
            "env": [{n: v for n, v in values.items() if _is_comparable(v)} for values in env],
            "skipped": [[n for n, v in values.items() if v is SKIPPED] for values in env],
            "grad": [_requires_grad(values) for values in env],
            "state": dict(module.state_dict()),
            "random": torch.get_rng_state(),
            "modes": _modes(),
        }

    def _over(self, thread: DebugThread, frame: Frame) -> Plan:
        return step_over(frame)

    def _in(self, thread: DebugThread, frame: Frame) -> Plan:
        return step_in(frame)

    def _far(self, thread: DebugThread, frame: Frame) -> Plan:
        room = len(frame.program) - 1
        return Plan(frame, min(frame.cursor + self.random.randrange(1, 20), room))

    def _back(self, thread: DebugThread, frame: Frame) -> Plan | Travel:
        if not self.levels[-1].events:
            if len(self.levels) == 1:
                return step_over(frame)
            self.levels.pop()
        else:
            self.levels[-1].events.pop()
        return step_back(thread)

    def _edit(self, thread: DebugThread, frame: Frame) -> Plan | Travel:
        """A whole value, one element, or a buffer; inputs are values too."""
        choices = [i for i in range(frame.cursor) if _is_full(frame.registers[i])]
        kind = self.random.choice(["value", "element", "buffer"])
        number = self.random.uniform(-1, 1)
        if kind == "buffer":
            target, change = "module.state", partial(_set_buffer, number=number)
        elif not choices:
            return step_over(frame)
        else:
            index = self.random.choice(choices)
            target, change = frame.program.nodes[index].name, partial(_set_value, index, number)
            if kind == "element":
                target, change = f"{target}[1, 2]", partial(_set_element, index, number)
        assign(frame, target, number if kind == "element" else _full(number), {})
        self.levels[-1].events.append(("edit", change))
        return step_over(frame)

    def _goto(self, thread: DebugThread, frame: Frame) -> Travel:
        frames = thread.frames
        depth = self.random.randrange(len(frames))
        cursor = self.random.randrange(frames[depth].cursor + 1)
        skipped = [e for e in self.levels[depth].events if e[0] == "jump" and e[1] < cursor < e[2]]
        del self.levels[depth + 1 :]
        self.levels[depth].back_to(skipped[0][1] if skipped else cursor)
        if skipped:
            self.levels[depth].events.append(("jump", skipped[0][1], cursor))
        return go_to(thread, frames[depth], cursor)

    def _skip(self, thread: DebugThread, frame: Frame) -> Plan | Travel:
        """Past nodes whose values nothing reads later, so that the run can go on."""
        readers = {a for n in frame.program.nodes for a in n.all_input_nodes}
        cursor = frame.cursor
        while cursor < len(frame.program) - 1 and frame.program.nodes[cursor] not in readers:
            cursor += 1
        if cursor == frame.cursor:
            return step_over(frame)
        self.levels[-1].events.append(("jump", frame.cursor, cursor))
        return go_to(thread, frame, cursor)

    def _restart(self, thread: DebugThread, frame: Frame) -> Travel:
        depth = self.random.randrange(len(thread.frames))
        del self.levels[depth + 1 :]
        self.levels[depth].events.clear()
        return restart(thread, thread.frames[depth])


def _full(number: float) -> torch.Tensor:
    return torch.full((SIZE, SIZE), number)


def _set_value(index: int, number: float, program: Program, registers: list[Any]) -> None:
    registers[index] = _full(number)


def _set_element(index: int, number: float, program: Program, registers: list[Any]) -> None:
    with torch.no_grad():
        registers[index][1, 2] = number


def _set_buffer(program: Program, registers: list[Any], number: float) -> None:
    with torch.no_grad():
        cast(torch.Tensor, program.module.state).fill_(number)


def _is_full(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.shape == (SIZE, SIZE) and value.is_leaf


def _is_comparable(value: Any) -> bool:
    return value is not SKIPPED and not isinstance(value, torch.amp.autocast)


def _requires_grad(values: dict[str, Any]) -> dict[str, bool]:
    return {n: v.requires_grad for n, v in values.items() if isinstance(v, torch.Tensor)}


def _modes() -> tuple[Any, ...]:
    return (
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
    )


def _set_modes(grad: bool, deterministic: bool, precision: str, autocast: bool, _: Any) -> None:
    torch.set_grad_enabled(grad)
    torch.use_deterministic_algorithms(deterministic)
    torch.set_float32_matmul_precision(precision)
    torch.set_autocast_enabled("cpu", autocast)


ENTRY = (False, "highest", False, None)


class _same_modes:
    """The modes at the run's entry; those of now come back afterwards."""

    def __init__(self, grad: bool) -> None:
        self._grad = grad

    def __enter__(self) -> None:
        self._now = _modes()
        _set_modes(self._grad, *ENTRY)

    def __exit__(self, *error: object) -> None:
        _set_modes(*self._now)


@pytest.fixture(autouse=True)
def _modes_end_with_the_test() -> Any:
    yield
    _set_modes(True, *ENTRY)


@pytest.mark.parametrize("batch", range((WALKS + BATCH - 1) // BATCH))
def test_a_random_walk_finds_every_place_as_a_fresh_run_would(batch: int) -> None:
    for seed in range(batch * BATCH, min((batch + 1) * BATCH, WALKS)):
        walk = Walk(seed)
        try:
            walk.run()
        except Exception:
            print(f"walk {seed}: {walk.moves}")
            raise
        finally:
            _set_modes(True, *ENTRY)
