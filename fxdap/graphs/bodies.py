"""Bodies of higher-order ops that torch runs on its own: in a backward, or as a graph made of them.

Called from the graph that holds it, a body is found as any nested graph. This module knows the
other calls: a checkpoint that computes again, the backward of an autograd.Function, and the graphs
that torch derives from a body to get its gradient. `Lineage` follows the latter.
"""

from __future__ import annotations

import functools
import threading
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.graph import CodeGen

from fxdap.engine.bodies import called_graphs
from fxdap.engine.debugger import Debugger
from fxdap.engine.execute import execute
from fxdap.engine.frame import Frame
from fxdap.engine.program import BODY_NODE, Program
from fxdap.graphs.origin import started_by_user
from fxdap.graphs.patches import Patches


class Bodies:
    """Finds the program of a body that torch itself calls."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self.lineage = Lineage(debugger)

    def belongs(self, module: torch.nn.Module, graph: Graph) -> bool:
        """Whether a graph is a body of a known graph, or was derived from one."""
        return self._debugger.nested_program(module, graph) is not None or (
            self.lineage.origin(module) is not None
        )

    def program(self, module: torch.nn.Module, graph: Graph, depth: int) -> Program | None:
        """The program of a body that torch runs; None for what the user calls."""
        nested = self._debugger.nested_program(module, graph)
        origin = self.lineage.origin(module) if nested is None else None
        if (nested is None and origin is None) or started_by_user(depth + 1):
            return None
        return nested if origin is None else self._derived(module, graph, origin)

    def _derived(self, module: torch.nn.Module, graph: Graph, origin: Program) -> Program:
        _share_sources(graph)
        thread = self._debugger.running_thread()
        stands_in = thread is not None and _is_at_user(thread.frames[-1], origin)
        return self._debugger.derived_program(module, graph, origin, stands_in=stands_in)


def _is_at_user(frame: Frame, body: Program) -> bool:
    """Whether a frame is at a node that was given the body."""
    frame.locate()
    return any(module is body.module for _, module in called_graphs(frame.program, frame.position))


class Lineage:
    """Which body a graph was derived from, and which of its nodes each node was made for.

    torch derives a graph by running the body under proxies. Such a run is made node by node
    here, and the graph that is recorded meanwhile belongs to the body, as do graphs that are
    made of that one before another body is run so. Only those graphs are marked: torch made
    them, and nobody else keeps them.
    """

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._origins: WeakKeyDictionary[torch.nn.Module, ref[Program]] = WeakKeyDictionary()
        self._latest = threading.local()
        self.pending = False
        """Whether a body has been run under proxies since `settle`, on any thread."""

    def install(self, patches: Patches) -> None:
        """Note what GraphModules are made of from now on."""
        original = GraphModule.__init__
        lineage = self

        @functools.wraps(original)
        def init(module: GraphModule, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            latest = getattr(lineage._latest, "body", None)
            if latest is not None:
                lineage._origins[module] = latest

        patches.set(GraphModule, "__init__", init)

    def clear(self) -> None:
        """Forget everything."""
        self._origins.clear()
        self._latest = threading.local()

    def origin(self, module: torch.nn.Module) -> Program | None:
        """The body that a graph was derived from."""
        found = self._origins.get(module)
        return found() if found is not None else None

    def settle(self) -> None:
        """A real run begins: graphs that are made from now on come from elsewhere."""
        self._latest.body = None
        self.pending = False

    def traced(self, module: GraphModule) -> Program | None:
        """The program of a body that is being run under proxies now; None for other graphs."""
        nested = self._debugger.nested_program(module, module.graph)
        body = nested or self.origin(module)
        if body is None or type(module.graph._codegen) is not CodeGen or get_proxy_mode() is None:
            return None
        self._latest.body, self.pending = ref(body), True
        return nested or Program(module, module.graph, body.name)


def run_traced(program: Program, args: tuple[Any, ...]) -> Any:
    """Run a body under proxies node by node, and mark the nodes that are recorded for each."""
    mode = get_proxy_mode()
    recorded: Graph = mode.tracer.graph  # type: ignore[union-attr]
    registers: list[Any] = [None] * len(program)
    for index, value in zip(program.placeholders, args, strict=True):
        registers[index] = value
    for index, node in enumerate(program.nodes):
        last = next(iter(reversed(recorded.nodes)), None)
        registers[index] = execute(program, index, registers)
        if node.op != "output":
            _mark(recorded, last, node)
    return registers[-1]


def _mark(recorded: Graph, last: Node | None, node: Node) -> None:
    for made in reversed(recorded.nodes):
        if made is last:
            return
        made.meta.setdefault(BODY_NODE, node.meta.get(BODY_NODE, node.name))
        for key in ("stack_trace", "nn_module_stack"):
            if key in node.meta:
                made.meta.setdefault(key, node.meta[key])


def _share_sources(graph: Graph) -> None:
    """Give nodes of a gradient the source line of the forward's node with the same number."""
    sources = {
        node.meta["seq_nr"]: node.meta["stack_trace"]
        for node in graph.nodes
        if BODY_NODE in node.meta and {"seq_nr", "stack_trace"} <= node.meta.keys()
    }
    for node in graph.nodes:
        source = sources.get(node.meta.get("seq_nr"))
        if source is not None:
            node.meta.setdefault("stack_trace", source)
