"""Changing values at a stop: node values, elements, attributes, items; each can be undone."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch

from fxdap.engine.frame import Frame
from fxdap.engine.names import EnvView, evaluate
from fxdap.engine.thread import DebugThread
from fxdap.engine.undo import Restorer, Saved, SavedContainer, SavedTensor, can_save


class EditError(ValueError):
    """Something that cannot be assigned to; the text says why."""


Scratch = dict[str, Any]


def assign(frame: Frame, target: str, value: Any, scratch: Scratch) -> None:
    """Assign to an expression at the frame's position, as an event of the run's past.

    Raises EditError, or what evaluating the target's parts raises.
    """
    try:
        tree = ast.parse(target.strip(), mode="eval").body
    except SyntaxError:
        raise EditError(f"{target!r} is not an expression that can be assigned to") from None
    _assign(frame, tree, value, scratch)


def _assign(frame: Frame, target: ast.expr, value: Any, scratch: Scratch) -> None:
    if isinstance(target, ast.Name):
        _assign_name(frame, target.id, value, scratch)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(frame, _value(frame, target.value, scratch), target.attr, value)
    elif isinstance(target, ast.Subscript):
        _assign_item(frame, target, value, scratch)
    else:
        raise EditError(
            f"{ast.unparse(target)} cannot be assigned to: name a value or a part of one"
        )


def _value(frame: Frame, tree: ast.expr, scratch: Scratch) -> Any:
    return evaluate(ast.unparse(tree), frame, scratch)


def _assign_name(frame: Frame, name: str, value: Any, scratch: Scratch) -> None:
    owner: Frame | None = frame
    while owner is not None:
        index = owner.program.by_name.get(name)
        if index is not None:
            owner.set_value(index, value)
            return
        owner = owner.parent
    if name not in scratch:
        raise EditError(f"there is no value {name!r} here; make a variable in the Debug Console")
    scratch[name] = value


def _assign_attribute(frame: Frame, owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, torch.Tensor) and name not in ("grad", "data", "requires_grad"):
        raise EditError(f"a tensor's {name} follows from the tensor: change the tensor itself")
    if isinstance(owner, torch.nn.Module):
        for table in (owner._parameters, owner._buffers):
            if name in table:
                _assign_state(frame, table, name, value)
                return
    old = getattr(owner, name)
    _record(frame, name, Restorer(lambda: setattr(owner, name, old)))
    setattr(owner, name, value)


def _assign_state(frame: Frame, table: dict[str, Any], name: str, value: Any) -> None:
    """A parameter or buffer: in place if it fits, since nodes that ran hold the tensor itself."""
    old = table[name]
    fits = isinstance(value, torch.Tensor) and isinstance(old, torch.Tensor)
    if fits and (value.shape, value.dtype, value.device) == (old.shape, old.dtype, old.device):
        source = value.detach().clone()
        _write(frame, name, old, lambda: old.copy_(source))
        return
    if value is not None and not isinstance(value, torch.Tensor):
        raise EditError(f"{name} takes a tensor or None, not {type(value).__name__}")
    if isinstance(old, torch.nn.Parameter) and value is not None:
        value = torch.nn.Parameter(value.detach(), requires_grad=value.is_floating_point())
    _record(frame, name, SavedContainer(table))
    table[name] = value


def _assign_item(frame: Frame, target: ast.Subscript, value: Any, scratch: Scratch) -> None:
    owner, key = _value(frame, target.value, scratch), _value(frame, target.slice, scratch)
    text = ast.unparse(target)
    if isinstance(owner, EnvView):
        _assign_name(frame, key if isinstance(key, str) else key.name, value, scratch)
    elif isinstance(owner, torch.Tensor):
        owner[key]  # an index that is out of range raises before anything is recorded
        _write(frame, text, owner, lambda: owner.__setitem__(key, value))
    elif isinstance(owner, (list, dict)):
        _record(frame, text, SavedContainer(owner))
        owner[key] = value
    elif isinstance(owner, tuple):
        items = list(owner)
        items[key] = value
        changed = type(owner)(*items) if hasattr(owner, "_fields") else tuple(items)
        _assign(frame, target.value, changed, scratch)
    else:
        raise EditError(f"items of {type(owner).__name__} cannot be set from here")


def _write(frame: Frame, what: str, tensor: torch.Tensor, write: Callable[[], object]) -> None:
    """Write into a tensor in place, whatever gradients and inference mode say."""
    if can_save(tensor):
        _record(frame, what, SavedTensor(tensor))
    with torch.inference_mode() if tensor.is_inference() else torch.no_grad():
        write()


def _record(frame: Frame, what: str, saved: Saved) -> None:
    frame.note_edit(f"the change of {what}", saved)


def record_write(thread: DebugThread, tensor: torch.Tensor) -> None:
    """A tensor's bytes are about to be changed, whichever value they are of."""
    frame = thread.top
    if frame is not None and can_save(tensor):
        _record(frame, "memory", SavedTensor(tensor))
