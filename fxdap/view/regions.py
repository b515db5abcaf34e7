"""Stretches of a flat graph that run under a transform or a mode: vmap, grad, no_grad, autocast.

torch writes them as a node that begins the region and one that ends it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import Node

_PAIRS = {
    "_vmap_increment_nesting": ("vmap", "_vmap_decrement_nesting"),
    "_grad_increment_nesting": ("grad", "_grad_decrement_nesting"),
    "_jvp_increment_nesting": ("jvp", "_jvp_decrement_nesting"),
    "_enter_autocast": ("autocast", "_exit_autocast"),
}
_ENDS = {end for _, end in _PAIRS.values()}


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes `start` to `stop` (exclusive), the first and last of which begin and end it."""

    label: str
    start: int
    stop: int


def regions(nodes: Sequence[Node]) -> tuple[Region, ...]:
    """The regions of a graph, outer before inner; one without an end reaches the graph's."""
    found: list[Region] = []
    opened: list[tuple[str, int]] = []
    for index, node in enumerate(nodes):
        name = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
        if name in _PAIRS:
            opened.append((name, index))
        elif name == "_set_grad_enabled":
            _switch(nodes, index, opened, found)
        elif name in _ENDS and opened and _PAIRS.get(opened[-1][0], ("", ""))[1] == name:
            begin = opened.pop()[1]
            found.append(Region(_label(nodes[begin]), begin, index + 1))
    found += [Region(_label(nodes[begin]), begin, len(nodes)) for _, begin in opened]
    return tuple(sorted(found, key=lambda region: (region.start, -region.stop)))


def _switch(
    nodes: Sequence[Node], index: int, opened: list[tuple[str, int]], found: list[Region]
) -> None:
    """`_set_grad_enabled` begins a region, or ends the one that the last such node began."""
    if opened and opened[-1][0] == "_set_grad_enabled":
        begin = opened.pop()[1]
        found.append(Region(_label(nodes[begin]), begin, index + 1))
    else:
        opened.append(("_set_grad_enabled", index))


def _label(node: Node) -> str:
    name: Any = getattr(node.target, "__name__", "")
    if name == "_set_grad_enabled":
        return "enable_grad" if node.args[:1] == (True,) else "no_grad"
    kind = _PAIRS[name][0]
    if kind == "vmap" and node.args:
        return f"vmap over {node.args[0]}"
    if kind == "autocast" and len(node.args) > 1:
        return f"autocast {node.args[0]} {str(node.args[1]).removeprefix('torch.')}"
    return str(kind)
