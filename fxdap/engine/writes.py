"""Which values a node writes in place, and which other values then show it.

Told before the node runs, from what is recorded of it: schemas, `_` methods, `out=`,
`inplace=True`, setitem, in-place operators, buffers of modules. Code that nothing is known of may
write into anything it is given.

    find_writes(program)              the nodes that may write, worked out once
    written_values(program, i, R)     what node i is about to write of its arguments
    written_state(program, i)         and of the called module's buffers
    sharing(frame, values)            which nodes' values show those bytes
    changed_by(frame)                 which values are not what their node gave, and who did it
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from fxdap.engine.execute import fetch, fetch_attribute
from fxdap.engine.frame import Frame
from fxdap.engine.program import Program, Step
from fxdap.engine.storage import overlap, tensors_in
from fxdap.engine.write_rules import TELLING, Write, node_write, only_reads

_found: weakref.WeakKeyDictionary[Program, dict[int, Write]] = weakref.WeakKeyDictionary()


def find_writes(program: Program) -> Mapping[int, Write]:
    """The program's nodes that may write in place, by index in execution order."""
    found = _found.get(program)
    if found is None:
        found = _found[program] = dict(_find(program))
    return found


def _find(program: Program) -> Iterator[tuple[int, Write]]:
    reads: dict[int, bool] = {}
    for index, step in enumerate(program.steps):
        key = id(step.target)
        if key not in reads:
            reads[key] = only_reads(step)
        if reads[key] and step.kwargs.keys().isdisjoint(TELLING):
            continue
        write = node_write(program.module, step)
        if write is not None:
            yield index, write


def written_values(program: Program, index: int, registers: list[Any]) -> list[Any]:
    """The tensors, lists and dicts among node `index`'s arguments that it is about to write.

    For unknown code: everything it is given.
    """
    return [fetch(argument, program, registers) for argument in written_arguments(program, index)]


def written_arguments(program: Program, index: int) -> list[Any]:
    """As `written_values`, with nodes in the place of their values."""
    write = find_writes(program).get(index)
    if write is None or (write.by_module and not _is_inplace(program, index)):
        return []
    return list(_arguments(write, program.steps[index]))


def _arguments(write: Write, step: Step) -> Iterator[Any]:
    if write.unknown:
        yield from step.args
        yield from step.kwargs.values()
        return
    for place in write.arguments:
        if isinstance(place, int) and place < len(step.args):
            yield step.args[place]
        elif isinstance(place, str) and place in step.kwargs:
            yield step.kwargs[place]


def written_state(program: Program, index: int) -> list[torch.Tensor]:
    """Buffers, and weights with a `max_norm`, that node `index`'s module is about to write."""
    write = find_writes(program).get(index)
    if write is None or not write.state:
        return []
    state: list[torch.Tensor] = []
    for inner in _called(program, index).modules():
        if _updates_buffers(inner):
            state += [b for b in inner._buffers.values() if b is not None]
        if getattr(inner, "max_norm", None) is not None:
            state += [p for p in inner._parameters.values() if p is not None]
    return state


def _called(program: Program, index: int) -> torch.nn.Module:
    called: torch.nn.Module = fetch_attribute(program.module, str(program.steps[index].target))
    return called


def _is_inplace(program: Program, index: int) -> bool:
    """Modules can be switched between runs, so this is asked each time."""
    return any(getattr(inner, "inplace", False) for inner in _called(program, index).modules())


def _updates_buffers(module: torch.nn.Module) -> bool:
    """torch's layers write buffers in training only; observers and users' modules at will."""
    if not module._buffers:
        return False
    return module.training or not type(module).__module__.startswith("torch.nn.modules")


def sharing(frame: Frame, written: Iterable[Any], end: int) -> list[int]:
    """Indices of the values of nodes before `end` that show what is in `written`."""
    values = list(written)
    mine = [t for value in values for t in tensors_in(value)]
    containers = {id(value) for value in values if isinstance(value, (list, dict))}
    return [
        index
        for index, value in enumerate(frame.registers[:end])
        if id(value) in containers
        or any(overlap(theirs, ours) for theirs in tensors_in(value) for ours in mine)
    ]


def changed_by(frame: Frame) -> dict[int, int]:
    """The values that a later node changed in place, and the last node that did."""
    changed: dict[int, int] = {}
    program, end = frame.program, frame.cursor
    for index, write in find_writes(program).items():
        if index >= end:
            break
        if not write.unknown and not frame.was_skipped(index):
            written = written_values(program, index, frame.registers)
            written += written_state(program, index)
            changed |= dict.fromkeys(sharing(frame, written, index), index)
    return changed
