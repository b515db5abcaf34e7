"""One line for any value: the text of Variables, hover, Watch, console and CLI."""

from typing import Any

import torch

from fxdap.view.array_summary import array_line, is_array
from fxdap.view.budget import Budget
from fxdap.view.container_summary import CONTAINERS
from fxdap.view.object_summary import ATOMS, OBJECTS, object_line, text_line
from fxdap.view.rendering import Context, Formatter, cut, one_line
from fxdap.view.target_text import class_name
from fxdap.view.tensor_statistics import Statistics
from fxdap.view.tensor_summary import tensor_brief, tensor_line

# Kept free for what stands around items: a class name, brackets, "... 9,998 more".
_RESERVED = 30


class Unreadable:
    """Stands for a part of a value that raised when it was asked for."""

    def __init__(self, error: BaseException) -> None:
        self.text = error_text(error)


def summarize(value: object, budget: Budget | None = None) -> str:
    """A readable line for `value`, within the budget's length and time. It never raises."""
    budget = budget or Budget()
    room = max(budget.length - _RESERVED, 1)
    context = Context(budget, _render, depth=0, room=room)
    return cut(_render(value, context), budget.length)


def type_name(value: object) -> str:
    """The class of a value as users import it."""
    return class_name(type(value))


def error_text(error: BaseException) -> str:
    """An exception in one line; its own text may fail too."""
    try:
        text = one_line(str(error))
    except Exception:
        text = ""
    name = type(error).__name__
    return cut(f"{name}: {text}" if text else name, 120)


def _render(value: Any, context: Context) -> str:
    try:
        return _formatter(type(value), value)(value, context)
    except Exception as error:
        return f"<{class_name(type(value))}, not readable: {error_text(error)}>"


def _formatter(cls: type, value: Any) -> Formatter:
    found = _EXACT.get(cls)
    if found is not None:
        return found
    # The type alone decides: isinstance would ask the object, which may lie or run code.
    for base, formatter in _BASES:
        if issubclass(cls, base):
            return formatter
    return array_line if is_array(value) else object_line


def _tensor(value: torch.Tensor, context: Context) -> str:
    return tensor_brief(value) if context.is_inner else tensor_line(value, context.budget)


def _unreadable(value: Unreadable, context: Context) -> str:
    return f"<not readable: {value.text}>"


_EXACT: dict[type, Formatter] = {
    **ATOMS,
    torch.Tensor: _tensor,
    torch.nn.Parameter: _tensor,
    Statistics: text_line,
    Unreadable: _unreadable,
}
_BASES: tuple[tuple[type, Formatter], ...] = ((torch.Tensor, _tensor), *OBJECTS, *CONTAINERS)
