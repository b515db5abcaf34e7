"""Saving what one node is about to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from fxdap.engine.effects import Effect
from fxdap.engine.execute import fetch, fetch_attribute
from fxdap.engine.gradients import SavedGradients, changes_history
from fxdap.engine.storage import extent, tensors_in
from fxdap.engine.undo import (
    Restorer,
    Saved,
    SavedContainer,
    SavedModes,
    SavedModule,
    SavedRandom,
    SavedTensor,
    can_save,
)
from fxdap.engine.writes import written_state, written_values

if TYPE_CHECKING:
    from fxdap.engine.frame import Frame

Recorded = tuple[list[Saved], str]


def save_node(frame: Frame, index: int, effect: Effect) -> Recorded:
    """What undoes node `index`, which has not run yet, and why nothing does if so."""
    if effect.barrier:
        return [], "changes functorch's levels, which cannot be undone"
    with torch._C.DisableTorchFunction():
        if torch._C._len_torch_dispatch_stack():
            with _disable_current_modes():
                return _save(frame, index, effect)
        return _save(frame, index, effect)


def _save(frame: Frame, index: int, effect: Effect) -> Recorded:
    saved: list[Saved] = []
    unsaved = ""
    if effect.random and (effect.unknown or _may_draw(frame, index)):
        generators = [g for g in _given(frame, index) if isinstance(g, torch.Generator)]
        saved.append(SavedRandom(generators, python=effect.unknown))
    if effect.enters or effect.leaves:
        saved.append(_context(frame, index, effect))
    elif effect.modes:
        saved.append(SavedModes())
    if effect.write is not None:
        written, unsaved = _written(frame, index, effect)
        saved += written
    return saved, unsaved


def _may_draw(frame: Frame, index: int) -> bool:
    """Dropout and its like draw in training only, unless they are functions."""
    step = frame.program.steps[index]
    if step.op != "call_module":
        return True
    called = fetch_attribute(frame.program.module, str(step.target))
    return any(inner.training for inner in called.modules())


def _given(frame: Frame, index: int) -> Iterator[Any]:
    """The values that a node is called with."""
    step = frame.program.steps[index]
    yield from fetch(step.args, frame.program, frame.registers)
    yield from fetch(step.kwargs, frame.program, frame.registers).values()


def _context(frame: Frame, index: int, effect: Effect) -> Saved:
    """Nodes that enter or leave a context: the opposite undoes them."""
    registers = frame.registers
    if effect.enters:
        return Restorer(lambda: registers[index].__exit__(None, None, None))
    context = next(_given(frame, index))
    return Restorer(lambda: context.__enter__())


def _written(frame: Frame, index: int, effect: Effect) -> Recorded:
    program = frame.program
    values = written_values(program, index, frame.registers)
    tensors = [t for value in values for t in tensors_in(value)]
    if effect.unknown:
        tensors = [t for t in tensors if not isinstance(t, torch.nn.Parameter)]
    saved: list[Saved] = []
    if tensors and changes_history(tensors, _tensors(_given(frame, index))):
        saved.append(SavedGradients(frame.registers, index, tensors))
    if effect.unknown and program.steps[index].op == "call_module":
        saved.append(SavedModule(fetch_attribute(program.module, str(program.steps[index].target))))
    saved += [SavedContainer(v) for v in _containers(values)]
    distinct = _distinct([*tensors, *written_state(program, index)])
    lost = any(not can_save(t) for t in distinct) and not effect.unknown
    saved += [SavedTensor(t) for t in distinct if can_save(t)]
    return saved, "wrote into a tensor whose memory cannot be copied" if lost else ""


def _tensors(values: Iterator[Any]) -> Iterator[torch.Tensor]:
    return (t for value in values for t in tensors_in(value))


def _containers(values: list[Any]) -> Iterator[list[Any] | dict[Any, Any]]:
    for value in values:
        if type(value) in (list, dict):
            yield value


def _distinct(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Each stretch of memory once."""
    found: dict[Any, torch.Tensor] = {}
    for tensor in tensors:
        found.setdefault((extent(tensor), tensor.shape, tensor.stride()), tensor)
    return list(found.values())
