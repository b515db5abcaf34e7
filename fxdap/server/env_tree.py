"""The Env scope: values computed so far, by module, never too many at once."""

from __future__ import annotations

import weakref
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from torch.fx import Node

from fxdap.engine.frame import Frame
from fxdap.engine.program import RELEASED, SKIPPED, Program
from fxdap.server.changes import change_note, changed_by
from fxdap.server.places import source_place
from fxdap.server.variables_tree import Group, Item
from fxdap.view.input_kinds import KINDS, input_kind
from fxdap.view.scope import ModuleScope
from fxdap.view.symbols import Open, bound_symbols, left_open

DIRECT_LIMIT = 50
"""Children of one kind that are shown without a group. A client asks for all of them at each stop,
so this is most of what a step costs; more than this fits no screen.
"""

CHUNK = 100


Source = tuple[str, int] | None


@dataclass
class Place:
    """The nodes directly in one module, in execution order, and the modules below it."""

    path: str
    nodes: list[int] = field(default_factory=list)
    below: dict[str, Place] = field(default_factory=dict)
    first: int = 1 << 60


@dataclass
class Places:
    """A program's nodes by module."""

    given: dict[str, list[int]]
    """Inputs and attributes by kind."""
    root: Place
    by_path: dict[str, Place]
    sized: dict[int, Open] = field(default_factory=dict)
    """What nodes leave open whose values bind symbols of the graph, in execution order."""
    sources: dict[int, Source] = field(default_factory=dict)
    """Where nodes come from, as far as it was asked."""

    def source(self, node: Node, index: int) -> Source:
        """The line of the user's source that a node comes from."""
        if index not in self.sources:
            self.sources[index] = source_place(node)
        return self.sources[index]


_cache: weakref.WeakKeyDictionary[Program, Places] = weakref.WeakKeyDictionary()


def places(program: Program) -> Places:
    """The program's nodes by module; worked out once."""
    found = _cache.get(program)
    if found is None:
        found = _cache[program] = _collect(program)
    return found


def _collect(program: Program) -> Places:
    root = Place("")
    result = Places({kind: [] for kind in KINDS}, root, {"": root})
    for index, node in enumerate(program.nodes):
        unknown = left_open(node)
        if unknown is not None:
            result.sized[index] = unknown
        if node.op in ("placeholder", "get_attr"):
            result.given[input_kind(program.module, node)].append(index)
        else:
            _place(result, own_scopes(program.scopes(index)), index).nodes.append(index)
    return result


def _place(result: Places, scopes: Sequence[ModuleScope], index: int) -> Place:
    """The place of the innermost of the scopes; places on the way note their first node."""
    place = result.root
    place.first = min(place.first, index)
    for scope in scopes:
        inner = result.by_path.get(scope.path)
        if inner is None:
            inner = result.by_path[scope.path] = place.below[scope.path] = Place(scope.path)
        place = inner
        place.first = min(place.first, index)
    return place


def own_scopes(scopes: Sequence[ModuleScope]) -> list[ModuleScope]:
    """The modules that the user wrote: what a Linear or LayerNorm computes is its caller's."""
    return [scope for scope in scopes if not scope.qualified_class.startswith("torch.nn.")]


def env_items(frame: Frame, path: str) -> list[Item]:
    """Children of the Env scope for the innermost module `path`."""
    found = places(frame.program)
    end = _end(frame)
    here = found.by_path.get(path, found.root)
    items = _values(frame, here.nodes, end, DIRECT_LIMIT)
    items += _modules(frame, here, end)
    items += _others(frame, found, here, end)
    for kind, nodes in found.given.items():
        items += _group(frame, kind, nodes, end)
    return items + _symbols(frame, found.sized, end)


def _symbols(frame: Frame, sized: dict[int, Open], end: int) -> list[Item]:
    """The sizes that the graph leaves open, as this run bound them."""
    bound: dict[str, int] = {}
    for index, unknown in takewhile(lambda pair: pair[0] < end, sized.items()):
        for symbol, size in bound_symbols(unknown, frame.registers[index]):
            bound.setdefault(symbol, size)
    if not bound:
        return []

    def compute() -> list[Item]:
        return [Item(symbol, size, kind="data") for symbol, size in bound.items()]

    text = ", ".join(f"{symbol} = {size}" for symbol, size in islice(bound.items(), 4))
    return [Item("symbols", branch=Group(compute), text=text + (", ..." if len(bound) > 4 else ""))]


def newest_value(frame: Frame) -> Any:
    """What the node gave that ran last; None before the first."""
    end = _end(frame)
    return frame.registers[end - 1] if end else None


def _end(frame: Frame) -> int:
    return frame.position + (1 if frame.phase == "after" else 0)


def _values(frame: Frame, nodes: list[int], end: int, limit: int = CHUNK) -> list[Item]:
    """Values of computed nodes; the oldest in groups when there are more than `limit`."""
    computed = nodes[: bisect_left(nodes, end)]
    old = computed[: max(len(computed) - limit, 0)]
    return _chunks(frame, old) + value_items(frame, computed[len(old) :])


def _chunks(frame: Frame, nodes: list[int]) -> list[Item]:
    """Groups of a hundred; groups of groups when there are more than a hundred of those."""
    if not nodes:
        return []
    size = CHUNK
    while len(nodes) > size * CHUNK:
        size *= CHUNK
    return [_chunk(frame, nodes[i : i + size]) for i in range(0, len(nodes), size)]


def _chunk(frame: Frame, nodes: list[int]) -> Item:
    names = frame.program.nodes
    title = f"{names[nodes[0]].name} … {names[nodes[-1]].name}"

    def compute() -> list[Item]:
        if len(nodes) > CHUNK:
            return _chunks(frame, nodes)
        return value_items(frame, nodes)

    return Item(title, branch=Group(compute), text=f"{len(nodes)} values", line=nodes[0])


def value_items(frame: Frame, indices: Sequence[int]) -> list[Item]:
    """Nodes' values under their listing names."""
    program, changed, file = frame.program, changed_by(frame), frame.program.file
    found = places(program)
    return [
        _value_item(frame, found, index, file, change_note(program, changed, index))
        for index in indices
    ]


def _value_item(frame: Frame, found: Places, index: int, file: str, note: str) -> Item:
    node, value = frame.program.nodes[index], frame.registers[index]
    name = node.name
    if value is RELEASED:
        return Item(name, text="released", type="released")
    if value is SKIPPED:
        return Item(name, text="skipped by a jump", type="unset", accessor=name)
    return Item(
        name,
        value,
        accessor=name,
        note=note,
        declared=(file, frame.program.line(index)),
        origin=found.source(node, index),
        left_open=found.sized.get(index),
    )


def _modules(frame: Frame, here: Place, end: int) -> list[Item]:
    below = [place for place in here.below.values() if place.first < end]
    if len(below) <= DIRECT_LIMIT:
        return [_module(frame, place, end, here.path) for place in below]
    groups = [below[i : i + CHUNK] for i in range(0, len(below), CHUNK)]
    return [_module_chunk(frame, group, end, here.path) for group in groups]


def _module_chunk(frame: Frame, group: list[Place], end: int, above: str) -> Item:
    def compute() -> list[Item]:
        return [_module(frame, place, end, above) for place in group]

    title = f"{group[0].path} … {group[-1].path}"
    return Item(title, branch=Group(compute), text=f"{len(group)} modules")


def _module(frame: Frame, place: Place, end: int, above: str) -> Item:
    def compute() -> list[Item]:
        return _values(frame, place.nodes, end) + _modules(frame, place, end)

    name = place.path.removeprefix(f"{above}.") if above else place.path
    return Item(f"module {name}", branch=Group(compute), text=_size(place, end))


def _size(place: Place, end: int) -> str:
    count = _count(place, end)
    return f"{count} value{'s' if count != 1 else ''}"


def _count(place: Place, end: int) -> int:
    return bisect_left(place.nodes, end) + sum(_count(p, end) for p in place.below.values())


def _others(frame: Frame, found: Places, here: Place, end: int) -> list[Item]:
    """The modules outside the innermost one, as one tree from the root."""
    if here is found.root:
        return []

    def compute() -> list[Item]:
        return _values(frame, found.root.nodes, end) + _modules(frame, found.root, end)

    return [Item("whole graph", branch=Group(compute), text=_size(found.root, end))]


def _group(frame: Frame, title: str, nodes: list[int], end: int) -> list[Item]:
    count = bisect_left(nodes, end)
    if count == 0:
        return []

    def compute() -> list[Item]:
        return _values(frame, nodes, end)

    text = f"{count} value{'s' if count != 1 else ''}"
    return [Item(title, branch=Group(compute), text=text)]
