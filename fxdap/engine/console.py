"""Running what the user types at a stop, so that what it writes can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fxdap.engine.frame import Frame
from fxdap.engine.gradients import SavedGradients
from fxdap.engine.storage import Extent, extent, tensors_in
from fxdap.engine.undo import Saved, SavedContainer, SavedTensor, can_save

Result = TypeVar("Result")

SHOWN = 60
"""Characters of a statement by which going back names it."""


def recorded(frame: Frame, text: str, run: Callable[[], Result]) -> Result:
    """Run code at a stop; all that it changes of the run's values is one event of its past.

    Seen are assignments to nodes and what torch operations, or lists and dicts of the run, write;
    not attributes of objects, nor writes by other means, such as a numpy array's.
    """
    history = frame.history
    if history is None or frame not in frame.thread.frames:
        return run()
    line, *more = text.strip().splitlines() or [""]
    title = line[:SHOWN] + ("..." if more or len(line) > SHOWN else "")
    watch = _Writes(frame)
    with history.as_one(title):
        try:
            with watch:
                return run()
        finally:
            for saved in watch.found():
                frame.note_edit(title, saved)


class _Writes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Saves the values of a run that an operation is about to write."""

    supports_higher_order_operators = True

    def __init__(self, frame: Frame) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._frame = frame
        self._saved: list[SavedTensor] = []
        self._met: set[Any] = set()
        self._lists = [SavedContainer(v) for v in frame.registers if type(v) in (list, dict)]
        self._gradients = _gradients(frame)
        self._storages: set[int] | None = None

    def found(self) -> Iterator[Saved]:
        """What was written to, as it was before."""
        if self._saved and self._gradients is not None:
            yield self._gradients.of(each.tensor for each in self._saved)
        yield from self._saved
        yield from (each for each in self._lists if each.is_changed())

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        for tensor in _written(func, args, kwargs):
            where = extent(tensor)
            key = (where, tensor.shape, tensor.stride())
            if key not in self._met and where is not None and self._is_of_the_run(where):
                self._met.add(key)
                if can_save(tensor):
                    self._saved.append(SavedTensor(tensor))
        return func(*args, **kwargs)

    def _is_of_the_run(self, where: Extent) -> bool:
        if self._storages is None:
            self._storages = {each.storage for each in map(extent, _values(self._frame)) if each}
        return where.storage in self._storages


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
    schema = getattr(func, "_schema", None)
    for place, argument in enumerate(schema.arguments if schema is not None else ()):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = args[place] if place < len(args) else kwargs.get(argument.name)
            yield from tensors_in(given)


def _values(frame: Frame) -> Iterator[torch.Tensor]:
    """The tensors of the runs on the stack, and those of their modules."""
    each: Frame | None = frame
    while each is not None:
        yield from tensors_in(each.registers)
        yield from each.program.module.parameters()
        yield from each.program.module.buffers()
        each = each.parent


def _gradients(frame: Frame) -> SavedGradients | None:
    """What the values were computed from; None where autograd records nothing now."""
    if not torch.is_grad_enabled() or torch.is_inference_mode_enabled():
        return None
    tensors = [t for t in tensors_in(frame.registers[: frame.cursor]) if t.grad_fn is not None]
    return SavedGradients(frame.registers, frame.cursor, tensors) if tensors else None
