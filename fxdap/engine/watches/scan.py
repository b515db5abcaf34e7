"""One look at all values of a stretch of nodes: finite, or something is suspicious.

Telling node by node whether a value is finite costs more than computing a small one. Small
tensors of one shape are stacked and summed at once, large ones summed alone; a sum is finite
only if every value is.
"""

import math
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import torch

from fxdap.engine.watches.census import is_finite, screened
from fxdap.engine.watches.facts import NUMBERLESS, fact
from fxdap.engine.watches.leaves import storage_key, stored_floats, tensors, version
from fxdap.view.quiet import quiet

SMALL = 4096
"""Elements up to which values are stacked: beyond, copying costs more than another call."""

_STACKABLE = {torch.float32, torch.float64, torch.float16, torch.bfloat16}


class _View(NamedTuple):
    """A value that shared the storage of one that is looked at anyway."""

    place: int
    source: int


class Constants:
    """Inputs and parameters of one program that were found finite, until they are written to."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}

    def note(self, index: int, value: Any) -> None:
        """The value is finite as it is now."""
        if isinstance(value, torch.Tensor) and (at := version(value)) is not None:
            self._known[index] = weakref.ref(value), at

    def holds(self, index: int, value: Any) -> bool:
        """Whether it still is the tensor that was found finite, unwritten."""
        known = self._known.get(index)
        tensor = known[0]() if known is not None else None
        return (
            known is not None
            and tensor is not None
            and tensor is value
            and version(tensor) == known[1]
        )

    def renew(self, index: int, value: Any) -> bool:
        """Whether it is finite: as it was found before, or found now."""
        if self.holds(index, value):
            return True
        clean = isinstance(value, torch.Tensor) and stored_floats(value) is value
        if not clean or not is_finite(value):
            return False
        self.note(index, value)
        return True


@dataclass
class Scan:
    """How to look at the values of certain nodes at once; learned from one run."""

    stacks: list[Callable[[list[Any]], Any]] = field(default_factory=list)
    singles: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    numberless: list[int] = field(default_factory=list)
    """Nodes whose values cannot be NaN or Inf, such as whole numbers; another time they may."""
    views: list[_View] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    exact: list[int] = field(default_factory=list)
    """Nodes to look at one by one: what a sum cannot tell, and what was not finite before."""
    trusted: frozenset[int] = frozenset()
    """Nodes before these: while their values are finite, those not read here are, too."""

    def is_clean(self, registers: list[Any], known: Constants) -> bool:
        """Whether everything but `exact` is finite. In doubt, no."""
        if is_transformed():
            return False
        try:
            with quiet():
                return self._sums_are_finite(registers, known)
        except (RuntimeError, TypeError, AttributeError, NotImplementedError):
            return False  # the values have other shapes or types than those it was learned from

    def _sums_are_finite(self, registers: list[Any], known: Constants) -> bool:
        if not all(known.renew(i, registers[i]) for i in self.constants):
            return False
        if not are_numberless(registers, self.numberless):
            return False
        for view in self.views:
            if not shares_storage(registers[view.place], registers[view.source]):
                return False
        if not all(math.isfinite(abs(registers[i])) for i in self.numbers):
            return False
        sums = [screened(torch.stack(take(registers))) for take in self.stacks]
        sums += [screened(registers[i]) for i in self.singles]
        return all(math.isfinite(abs(total)) for total in numbers(sums))


def are_numberless(registers: list[Any], places: Iterable[int]) -> bool:
    """Whether these values still cannot be NaN or Inf."""
    return all(fact(registers[i]).kind is NUMBERLESS for i in places)


def numbers(sums: list[torch.Tensor]) -> Iterable[Any]:
    """Sums as numbers; those on another device with one wait for it."""
    if len(sums) < 3 or sums[0].device.type == "cpu":
        return (total.item() for total in sums)
    groups: dict[tuple[torch.dtype, torch.device], list[torch.Tensor]] = {}
    for total in sums:
        groups.setdefault((total.dtype, total.device), []).append(total)
    return (torch.stack(group).sum().item() for group in groups.values())


def learn(
    registers: list[Any],
    wanted: Iterable[int],
    suspects: Iterable[int],
    sources: Callable[[int], list[int]],
    is_constant: Callable[[int], bool],
) -> Scan:
    """Work out how to look at these nodes from the values that they have now."""
    scan, seen = Scan(), set(suspects)
    scan.exact += sorted(seen)
    shapes: dict[tuple[Any, ...], list[int]] = {}
    with quiet():
        for index in wanted:
            if index not in seen:
                _sort_in(scan, shapes, registers, index, sources, is_constant)
    for (dtype, *_), indices in shapes.items():
        if len(indices) > 1 and dtype in _STACKABLE:
            scan.stacks.append(itemgetter(*indices))
        else:
            scan.singles += indices
    scan.exact.sort()
    return scan


def _sort_in(
    scan: Scan,
    shapes: dict[tuple[Any, ...], list[int]],
    registers: list[Any],
    index: int,
    sources: Callable[[int], list[int]],
    is_constant: Callable[[int], bool],
) -> None:
    value = registers[index]
    viewed = _viewed(registers, index, sources)
    if viewed is not None:
        scan.views.append(_View(index, viewed))
    elif isinstance(value, float):
        scan.numbers.append(index)
    elif isinstance(value, torch.Tensor) and stored_floats(value) is value:
        if is_constant(index) and value.numel() > SMALL and version(value) is not None:
            scan.constants.append(index)
        elif value.numel() <= SMALL:
            shapes.setdefault((value.dtype, value.device, value.shape), []).append(index)
        else:
            scan.singles.append(index)
    elif fact(value).kind is NUMBERLESS:
        scan.numberless.append(index)
    else:
        scan.exact.append(index)


def _viewed(registers: list[Any], index: int, sources: Callable[[int], list[int]]) -> int | None:
    """The argument that a large value is a view of, or a part of."""
    value = registers[index]
    if sum(tensor.numel() for tensor in tensors(value)) <= SMALL:
        return None
    shared = (s for s in sources(index) if shares_storage(value, registers[s]))
    return next(shared, None)


def shares_storage(value: Any, source: Any) -> bool:
    """Whether everything in a value was looked at in its source, bytes of the same dtype."""
    if isinstance(source, (tuple, list)):
        return any(item is value for item in source)
    if not isinstance(source, torch.Tensor):
        return False
    key, parts = storage_key(source), value if isinstance(value, (tuple, list)) else (value,)
    return key is not None and all(
        isinstance(part, torch.Tensor) and part.dtype is source.dtype and storage_key(part) == key
        for part in parts
    )


def is_transformed() -> bool:
    """Under vmap and its kin, and under dispatch modes, values are not what they were."""
    return (
        torch._C._functorch.peek_interpreter_stack() is not None
        or torch._C._len_torch_dispatch_stack() > 0
    )
