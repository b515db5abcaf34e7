"""What must hold for every graph: the debugger computes what torch does and stops where it says."""

import linecache
import os
import random
import re
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from fxdap.engine.plan import Plan, step_over
from fxdap.engine.stops import Stop
from fxdap.engine.thread import DebugThread
from fxdap.lsp.listing.checks import node_findings
from fxdap.lsp.listing.model import Listing as TextListing
from fxdap.lsp.listing.operators import opcode
from fxdap.lsp.listing.storage_checks import shared_writes
from fxdap.server.frames import stack_entries
from fxdap.view.listing import Listing, build_listing
from fxdap.view.listing_text import names_by_line
from fxdap.view.nested import nested_graphs
from tests.engine.driver import Driver, assert_same, kept_values
from tests.zoo.captures import Graph, copied

STOPS = 20
_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


@dataclass(frozen=True)
class Place:
    """Where a stop says it is."""

    node: str
    listed: str
    source: tuple[str, int] | None
    module: str


def listing_of(graph: Graph) -> Listing:
    return build_listing(graph.module, title=graph.title)


def check_listing(graph: Graph, listing: Listing) -> None:
    """Every node of the graph and of its bodies has one line, in order, and is read back."""
    expected = [node.name for node in graph.module.graph.nodes]
    for inner in nested_graphs(graph.module, graph.module.graph):
        expected += [f"{inner.path}/{node.name}" for node in inner.graph.nodes]
    assert list(names_by_line(listing.text).values()) == expected
    assert {name: line for line, name in names_by_line(listing.text).items()} == listing.lines


def check_reading(graph: Graph, listing: Listing) -> None:
    """The language server reads that graph from the text, and reports nothing that is not so."""
    text = TextListing(listing.text)
    nested = nested_graphs(graph.module, graph.module.graph)
    nodes: dict[int, Node] = {}
    for path, part in (("", graph.module.graph), *((each.path, each.graph) for each in nested)):
        for node in part.nodes:
            read = text.find(path, node.name)
            assert read is not None, node
            assert opcode(read.text) == node.op, node.format_node()
            names = {each.text.name for each in read.inputs}
            assert names == {each.name for each in node.all_input_nodes}, node.format_node()
            nodes[read.line] = node
    assert not list(shared_writes(text))
    for found in (each for node in text.nodes for each in node_findings(text, node)):
        node = nodes[found.line]
        assert found.code in ("dead", "device"), found
        assert found.code == "device" or not node.users, found


def check_values(graph: Graph) -> None:
    """Three runs, each by another way of the engine's, equal torch's own bit for bit."""
    values = every_value(graph)
    result = call(graph)
    held: list[dict[str, Any]] = []

    def keep(_: Driver, thread: DebugThread, stop: Stop) -> None:
        if len(thread.frames) == 1:
            held.append(kept_values(thread.frames[0]))

    driver = Driver(at_stop=keep)
    driver.break_on("after:op:output")
    with driver:
        results = [call(graph) for _ in range(3)]
    assert len(held) == 3
    for run, got in zip(held, results, strict=True):
        assert_same(run, values)
        assert_same(got, result)


def call(graph: Graph) -> Any:
    torch.manual_seed(1)
    with torch.no_grad():
        return graph.module(*copied(graph.args), **copied(graph.kwargs))


def every_value(graph: Graph) -> dict[str, Any]:
    """Every node's value by torch's Interpreter."""
    leaves = torch.utils._pytree.tree_leaves((copied(graph.args), copied(graph.kwargs)))
    count = sum(node.op == "placeholder" for node in graph.module.graph.nodes)
    interpreter = Interpreter(graph.module, garbage_collect_values=False)
    torch.manual_seed(1)
    with torch.no_grad():
        interpreter.run(*leaves[:count], enable_io_processing=False)
    return {node.name: value for node, value in interpreter.env.items()}


def check_stops(graph: Graph, listing: Listing) -> None:
    """Breakpoints at random nodes, and a step from each, stop where they should and say so."""
    nodes = list(graph.module.graph.nodes)
    chosen = _chosen(graph.module, nodes)
    seen: list[Place] = []

    def at_stop(_: Driver, thread: DebugThread, stop: Stop) -> Plan | None:
        frame = thread.frames[-1]
        if len(thread.frames) > 1:
            return None
        seen.append(_place(thread, listing.text.split("\n")))
        return step_over(frame) if frame.position in chosen else None

    driver = Driver(at_stop=at_stop)
    for index in sorted(chosen):
        driver.break_on(nodes[index].name)
    with driver:
        call(graph)
    wanted = sorted(chosen | {index + 1 for index in chosen if index + 1 < len(nodes)})
    for place, index in zip(seen, wanted, strict=True):
        assert place == _expected(nodes[index], graph.model), graph.title


def _chosen(module: GraphModule, nodes: list[Node]) -> set[int]:
    inside = {n.name for g in nested_graphs(module, module.graph) for n in g.graph.nodes}
    outside = [index for index, node in enumerate(nodes) if node.name not in inside]
    return set(random.Random(0).sample(outside, min(STOPS, len(outside))))


def _place(thread: DebugThread, lines: list[str]) -> Place:
    # Regions, such as a vmap's, have rows of their own between the node and its module.
    top, inner, *_ = (each for each in stack_entries(thread, None) if each.frame is not None)
    found = re.match(r"\s*%([^\s:=]+)", lines[top.line - 1])
    source = (inner.source.path or "", inner.line) if inner.source is not None else None
    return Place(
        node=top.name.split()[0].removeprefix("%"),
        listed=found[1] if found else "",
        source=source,
        module=inner.scope or "",
    )


def _expected(node: Node, model: torch.nn.Module) -> Place:
    """The same, read from the node's metadata in the plainest way."""
    return Place(node.name, node.name, _source(node), _module(node, model))


def _source(node: Node) -> tuple[str, int] | None:
    """The line that made the node; for an input, which belongs to the root, the root's line."""
    found = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [(file, int(line), what) for file, line, what in found if not file.startswith(_TORCH)]
    assert all(linecache.getline(file, line).strip() for file, line, _ in own)
    forwards = [frame for frame in own if frame[2] == "forward"]
    if node.op in ("placeholder", "output") and forwards:
        return forwards[0][:2]
    return own[-1][:2] if own else None


def _module(node: Node, model: torch.nn.Module) -> str:
    """The path of the innermost module, which the model, or one it was captured from, must know."""
    stack = node.meta.get("nn_module_stack") or {}
    if node.op in ("placeholder", "output") or node.target == "_guards_fn" or not stack:
        return ""
    recorded = list(stack.values())[-1][0]
    path = recorded.removeprefix("L['self']").removeprefix("L['args'][0]")
    path = re.sub(r"\._modules\['([^']*)'\]|\[(\w+)\]|\['([^']*)'\]", r".\1\2\3", path)
    path = re.sub(r"@\d+$", "", path).strip(".")
    assert any(f".{name}".endswith(f".{path}") for name, _ in model.named_modules()), recorded
    return path
