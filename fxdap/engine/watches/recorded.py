"""The filter `meta`: values that are not what the graph's metadata says of them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx import Node

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.engine.watches.found import Finding
from fxdap.view.quiet import quiet
from fxdap.view.type_text import meta_type_text

_PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter)
_KEYS = ("val", "example_value", "tensor_meta")


@dataclass
class Bindings:
    """What the symbols of a graph's shapes stand for in one run, and the node that told."""

    values: dict[Any, tuple[int, str]] = field(default_factory=dict)

    def problem(self, recorded: Any, actual: int, name: str) -> str | None:
        """Why a size is not the recorded one; None if it is, or if that cannot be told."""
        if isinstance(recorded, int):
            return None if recorded == actual else f"{actual} instead of {recorded}"
        expression = getattr(getattr(recorded, "node", None), "expr", None)
        if expression is None:
            return None
        if expression.is_Symbol and expression not in self.values:
            self.values[expression] = actual, name
            return None
        if not all(symbol in self.values for symbol in expression.free_symbols):
            return None
        known = {s: self.values[s][0] for s in expression.free_symbols}
        expected = int(expression.xreplace(known))
        if expected == actual:
            return None
        told = ", ".join(f"{s} is {v} in %{self.values[s][1]}" for s, v in known.items())
        return f"{actual} instead of {expression}{f' = {expected}' if told else ''} ({told})"


@dataclass(frozen=True)
class _Plain:
    """A tensor without symbols: compared without a call."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    stride: tuple[int, ...] | None
    device: torch.device | None


class MetaWatch:
    """Compares each value of one program with what its node recorded."""

    def __init__(self, program: Program, selected: Container[int] | None) -> None:
        self._program = program
        self._recorded: dict[int, Any] = {}
        for index, node in enumerate(program.nodes):
            recorded = recorded_value(node) if node.op != "output" else None
            if recorded is not None and (selected is None or index in selected):
                self._recorded[index] = recorded
        self._plain = {i: p for i, r in self._recorded.items() if (p := _plain(r)) is not None}
        self._order = sorted(self._recorded)

    def first(
        self, frame: Frame, start: int, stop: int, bindings: Bindings, wrong: set[int]
    ) -> list[Finding]:
        """The earliest node of a stretch that disagrees while no input of its does."""
        registers = frame.registers
        with quiet():
            for index in range(start, stop):
                plain = self._plain.get(index)
                value = registers[index]
                if (
                    plain is not None
                    and type(value) in _PLAIN_TYPES
                    and (
                        value.dtype is plain.dtype
                        and value.shape == plain.shape
                        and (plain.stride is None or value.stride() == plain.stride)
                        and (plain.device is None or value.device == plain.device)
                    )
                ):
                    continue
                if index in self._recorded:
                    finding = self._compare(index, value, bindings, wrong)
                    if finding is not None:
                        return [finding]
        return []

    def _compare(
        self, index: int, value: Any, bindings: Bindings, wrong: set[int]
    ) -> Finding | None:
        node = self._program.nodes[index]
        recorded = self._recorded[index]
        problem = difference(value, recorded, bindings, node.name)
        if problem is None:
            self._accept(index, value)
            return None
        wrong.add(index)
        if any(self._program.index[source] in wrong for source in node.all_input_nodes):
            return None
        text = f"%{node.name} was recorded as {meta_type_text(recorded)}: {problem}"
        return Finding(index, "meta", text)

    def _accept(self, index: int, value: Any) -> None:
        """Strides that differ only where nothing is stepped over are not compared again."""
        plain = self._plain.get(index)
        if plain is not None and type(value) in _PLAIN_TYPES:
            self._plain[index] = replace(plain, stride=value.stride(), device=value.device)


def recorded_value(node: Node) -> Any:
    """What the node's metadata says of its value; None if nothing."""
    return next((node.meta[key] for key in _KEYS if node.meta.get(key) is not None), None)


def difference(value: Any, recorded: Any, bindings: Bindings, name: str) -> str | None:
    """How a value differs from what was recorded; None if it does not."""
    if _is_tensor_like(recorded):
        return _tensor_difference(value, recorded, bindings, name)
    if isinstance(recorded, torch.SymInt):
        problem = bindings.problem(recorded, value, name) if isinstance(value, int) else None
        return f"it is {problem}" if problem else None
    if isinstance(recorded, (tuple, list)):
        if not isinstance(value, (tuple, list)) or len(value) != len(recorded):
            return f"it is {meta_type_text(value)}"
        pairs = {f"[{i}]": pair for i, pair in enumerate(zip(value, recorded, strict=True))}
    elif isinstance(recorded, dict):
        if not isinstance(value, dict) or value.keys() != recorded.keys():
            return f"it is {meta_type_text(value)}"
        pairs = {f"[{key!r}]": (value[key], recorded[key]) for key in recorded}
    else:
        return None
    for path, (mine, theirs) in pairs.items():
        problem = difference(mine, theirs, bindings, name)
        if problem is not None:
            return f"{path}: {problem}"
    return None


def _tensor_difference(value: Any, recorded: Any, bindings: Bindings, name: str) -> str | None:
    if not isinstance(value, torch.Tensor):
        return f"it is {meta_type_text(value)}"
    problems = []
    if value.dtype != recorded.dtype:
        problems.append(f"dtype {value.dtype} instead of {recorded.dtype}")
    shape = _shape_problem(value, recorded, bindings, name)
    if shape is not None:
        problems.append(f"shape {list(value.shape)}, {shape}")
    elif (stride := _stride_problem(value, recorded, bindings, name)) is not None:
        problems.append(stride)
    device = getattr(recorded, "device", None)
    if device is not None and not _same_device(value.device, device):
        problems.append(f"on {value.device} instead of {device}")
    return "; ".join(problems) or None


def _shape_problem(value: Any, recorded: Any, bindings: Bindings, name: str) -> str | None:
    if len(value.shape) != len(recorded.shape):
        return f"{value.dim()} dimensions instead of {len(recorded.shape)}"
    for axis, (mine, theirs) in enumerate(zip(value.shape, recorded.shape, strict=True)):
        problem = bindings.problem(theirs, mine, name)
        if problem is not None:
            return f"size {axis} is {problem}"
    return None


def _stride_problem(value: Any, recorded: Any, bindings: Bindings, name: str) -> str | None:
    """Strides count only where there is a next element to step to."""
    theirs = _stride(recorded)
    if theirs is None or not value.numel():
        return None
    for size, mine, other in zip(value.shape, value.stride(), theirs, strict=True):
        if size > 1 and bindings.problem(other, mine, name) is not None:
            return f"stride {tuple(value.stride())} instead of {tuple(map(str, theirs))}".replace(
                "'", ""
            )
    return None


def _stride(recorded: Any) -> tuple[Any, ...] | None:
    stride = getattr(recorded, "stride", None)
    try:
        return tuple(stride() if callable(stride) else stride or ())
    except (RuntimeError, TypeError):
        return None


def _same_device(mine: torch.device, theirs: torch.device) -> bool:
    return (mine.type == theirs.type and None in (mine.index, theirs.index)) or mine == theirs


def _is_tensor_like(recorded: Any) -> bool:
    if isinstance(recorded, torch.Tensor):
        return recorded.layout is torch.strided and not recorded.is_nested
    return hasattr(recorded, "dtype") and hasattr(recorded, "shape") and isinstance(recorded, tuple)


def _plain(recorded: Any) -> _Plain | None:
    if not _is_tensor_like(recorded):
        return None
    stride = _stride(recorded)
    sizes = (*recorded.shape, *(stride or ()))
    if not all(type(size) is int for size in sizes):
        return None
    device = getattr(recorded, "device", None)
    return _Plain(tuple(recorded.shape), recorded.dtype, stride, device)
