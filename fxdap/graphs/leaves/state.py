"""What a module's call may leave behind: its attributes and tensors, and the random state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from fxdap.graphs.leaves.bits import same_bits

_TABLES = ("_parameters", "_buffers", "_modules")
_CONTAINERS = (list, dict, set)


class ModuleState:
    """A snapshot of a module and its submodules that can be put back.

    Only what differs is put back, so that a module which nothing changed is not touched.
    """

    def __init__(self, module: nn.Module) -> None:
        self._modules = list(module.modules())
        self._names = {id(m): name for name, m in module.named_modules()}
        self._attributes = [_attributes(m) for m in self._modules]
        self._tensors = [(t, t.detach().clone()) for t in _tensors(module)]
        self._random = random_states()

    def changed_attribute(self) -> str | None:
        """The first attribute that is another object now, or holds other items."""
        for module, before in zip(self._modules, self._attributes, strict=True):
            now = _attributes(module)
            for name in before.keys() | now.keys():
                if not _same(before.get(name, self), now.get(name, self)):
                    path = self._names[id(module)]
                    return f"{path}.{name}" if path else name
        return None

    def tensors(self) -> list[torch.Tensor]:
        """Copies of what parameters and buffers hold now."""
        return [t.detach().clone() for t, _ in self._tensors]

    def restore(self) -> None:
        """Put everything back."""
        for module, before in zip(self._modules, self._attributes, strict=True):
            _put_back(module, before)
        for tensor, content in self._tensors:
            if not same_bits(tensor.detach(), content):
                # By `data`, which counts no version: a backward may wait for this one.
                tensor.data.copy_(content)
        set_random_states(self._random)


def _attributes(module: nn.Module) -> dict[str, Any]:
    found = {k: _copied(v) for k, v in module.__dict__.items() if k not in _TABLES}
    for table in _TABLES:
        found.update(module.__dict__[table])
    return found


def _copied(value: Any) -> Any:
    return (value, type(value)(value)) if type(value) in _CONTAINERS else value


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, tuple) and len(before) == 2 and type(before[0]) in _CONTAINERS:
        return isinstance(now, tuple) and before[0] is now[0] and _same_items(before[1], now[1])
    return before is now or (isinstance(before, (int, float, str)) and before == now)


def _same_items(before: Any, now: Any) -> bool:
    if len(before) != len(now):
        return False
    if isinstance(before, dict):
        return before.keys() == now.keys() and all(before[k] is now[k] for k in before)
    if isinstance(before, set):
        return bool(before == now)
    return all(a is b for a, b in zip(before, now, strict=True))


def _put_back(module: nn.Module, before: dict[str, Any]) -> None:
    tables: list[dict[str, Any]] = [module.__dict__[table] for table in _TABLES]
    for name, value in before.items():
        table = next((t for t in tables if name in t), module.__dict__)
        if isinstance(value, tuple) and len(value) == 2 and type(value[0]) in _CONTAINERS:
            container, items = value
            if not _same_items(items, container):
                container.clear()
                container.extend(items) if isinstance(container, list) else container.update(items)
            value = container
        if table.get(name) is not value:
            table[name] = value
    for name in [n for n in module.__dict__ if n not in before and n not in _TABLES]:
        del module.__dict__[name]
    for table in tables:
        for name in [n for n in table if n not in before]:
            del table[name]


def _tensors(module: nn.Module) -> Iterator[torch.Tensor]:
    yield from module.parameters()
    yield from module.buffers()


def random_states() -> list[torch.Tensor]:
    """The random state of the host, and of each device in use."""
    states = [torch.get_rng_state()]
    if torch.cuda._initialized:
        states += torch.cuda.get_rng_state_all()
    return states


def set_random_states(states: list[torch.Tensor]) -> None:
    """Go back to a random state."""
    torch.set_rng_state(states[0])
    if len(states) > 1:
        torch.cuda.set_rng_state_all(states[1:])
