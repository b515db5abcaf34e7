"""Catching the graphs that user code runs: GraphModule calls and Interpreter runs.

The patches are made on torch's classes (and on Interpreter subclasses that override what must
be seen), once per session, and `uninstall` puts every original object back.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import torch
from torch.fx import GraphModule
from torch.fx.graph_module import _WrappedCall
from torch.fx.proxy import TracerBase

from fxdap.engine.debugger import Debugger, forward_of
from fxdap.engine.program import Program
from fxdap.graphs.bodies import Bodies, run_traced
from fxdap.graphs.calls import has_hooks, has_own_call, is_stale, runs_its_graph
from fxdap.graphs.compile.active import ACTIVE
from fxdap.graphs.compile.graph import known_graphs
from fxdap.graphs.compile.substitute import forget_substitute, substitute_compile
from fxdap.graphs.dynamo import dynamo_callback
from fxdap.graphs.exported import watch_exports
from fxdap.graphs.inputs import Binder
from fxdap.graphs.interpreters import InterpreterRuns
from fxdap.graphs.naming import graph_title
from fxdap.graphs.origin import is_ghost, started_by_user
from fxdap.graphs.patches import Patches
from fxdap.graphs.tracer import remember_sources
from fxdap.view.source import forget_all

SITE_LIMIT = 1000


class _Site(NamedTuple):
    """A module that was called, and what runs it; keeps neither module nor program alive."""

    module: ref[GraphModule]
    forward: object
    program: ref[Program]
    binder: Binder | None
    own_call: bool


class GraphRuns:
    """Runs GraphModule calls under the debugger while installed."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._patches = Patches()
        self._bodies = Bodies(debugger)
        self._interpreters = InterpreterRuns(debugger, self._patches, self._bodies)
        self._binders: WeakKeyDictionary[Program, tuple[object, Binder | None]]
        self._binders = WeakKeyDictionary()
        self._sites: dict[tuple[int, int], _Site] = {}

    def watch_tracing(self) -> None:
        """Know where from now on the nodes that the user's code traces or exports come from."""
        if not self._patches.is_set(TracerBase, "create_node"):
            remember_sources(self._patches)
            watch_exports(self._patches)

    def install(self) -> None:
        """Start to catch runs."""
        original = _WrappedCall.__call__
        runs = self

        @functools.wraps(original)
        def call(wrapped: _WrappedCall, obj: GraphModule, *args: Any, **kwargs: Any) -> Any:
            if dynamo_callback() is not None:
                return original(wrapped, obj, *args, **kwargs)
            key = id(obj), runs._debugger.calling_root()
            site = runs._site(key, obj)
            if not runs._is_ours(key, obj, site, args, kwargs):
                return runs._leave_alone(obj, args, kwargs, functools.partial(original, wrapped))
            own_call = has_own_call(wrapped, obj) if site is None else site.own_call
            if own_call or has_hooks(obj):
                native = functools.partial(original, wrapped, obj)
                return runs._call_with_hooks(obj, args, kwargs, native)
            return runs._forward(obj, args, kwargs, key, site)

        self._patches.set(_WrappedCall, "__call__", call)
        self._bodies.lineage.install(self._patches)
        self._interpreters.install()
        ACTIVE.begin(self._debugger)
        for graph in known_graphs():
            graph.program(self._debugger)

    def substitute_compile(self, mode: str) -> None:
        """Debug what the user's code gives to torch.compile, in the graphs that `mode` names."""
        substitute_compile(self._patches, mode, self._debugger.listener.told)

    def uninstall(self) -> None:
        """Put torch's and the user's own functions back."""
        ACTIVE.end(self._debugger)
        substituted = self._patches.is_set(torch, "compile")
        self._patches.undo()
        if substituted:
            forget_substitute()
        self._bodies.lineage.clear()
        self._binders.clear()
        self._sites.clear()
        forget_all()

    def _is_ours(
        self,
        key: tuple[int, int],
        module: GraphModule,
        site: _Site | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> bool:
        given = (*args, *kwargs.values()) if kwargs else args
        if is_ghost(given) or (site is None and not runs_its_graph(module)):
            return False
        is_nested = key[1] != 0
        if is_nested or not self._debugger.options.just_my_code:
            return True
        # Above this stand `call` and the `__call__` that torch gives each GraphModule's class.
        return started_by_user(4) or self._bodies.belongs(module, module.graph)

    def _leave_alone(
        self, module: GraphModule, args: tuple[Any, ...], kwargs: dict[str, Any], native: Any
    ) -> Any:
        """Not a run to debug: torch's own, or one that only traces."""
        program = None if kwargs or has_hooks(module) else self._bodies.lineage.traced(module)
        return native(module, *args, **kwargs) if program is None else run_traced(program, args)

    def _call_with_hooks(
        self, module: GraphModule, args: tuple[Any, ...], kwargs: dict[str, Any], native: Any
    ) -> Any:
        """Let torch call the hooks around our run: for this call `forward` is ours.

        nn.Module finds `forward` on the instance first; the entry is gone when the call ends.
        """
        module.__dict__["forward"] = functools.partial(self._forward_once, module)
        try:
            return native(*args, **kwargs)
        finally:
            module.__dict__.pop("forward", None)

    def _forward_once(self, module: GraphModule, *args: Any, **kwargs: Any) -> Any:
        module.__dict__.pop("forward", None)
        key = id(module), self._debugger.calling_root()
        return self._forward(module, args, kwargs, key, self._site(key, module))

    def _forward(
        self,
        module: GraphModule,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        key: tuple[int, int],
        site: _Site | None,
    ) -> Any:
        if self._bodies.lineage.pending:
            self._bodies.lineage.settle()
        program = site.program() if site is not None else None
        if site is None or program is None:
            program = self.program(module)
            site = self._remember(key, module, program)
        binder = site.binder
        if binder is None:
            return type(module).forward(module, *args, **kwargs)
        inputs = binder.placeholders(args, kwargs)
        return binder.result(self._debugger.run_program(program, inputs))

    def _site(self, key: tuple[int, int], module: GraphModule) -> _Site | None:
        """What is known of a module whose calls run the same code as when it was called before.

        What stands before a graph's first node runs with cold caches, so every call counts.
        """
        site = self._sites.get(key)
        if site is None or site.module() is not module:
            return None
        if site.forward is not type(module).__dict__.get("forward"):
            return None
        replaced = "forward" in module.__dict__ or module._compiled_call_impl is not None
        return None if replaced else site

    def _remember(self, key: tuple[int, int], module: GraphModule, program: Program) -> _Site:
        """Note what is called from outside of graphs, and bodies of the calling graph.

        What program others have depends on who calls them.
        """
        code, binder = self._binders.get(program, (None, None))
        if code is not forward_of(module):
            code, binder = self._binders[program] = forward_of(module), self._binder(module)
        wrapped: Any = module._wrapped_call
        own_call = has_own_call(wrapped, module)
        site = _Site(ref(module), forward_of(module), ref(program), binder, own_call)
        if key[1] == (id(program.root) if program.parent is not None else 0):
            if len(self._sites) >= SITE_LIMIT:
                self._sites.clear()
            self._sites[key] = site
        return site

    def _binder(self, module: GraphModule) -> Binder | None:
        """What binds the module's calls; None if `forward` does not run the graph as it is now."""
        if not is_stale(module):
            return Binder(module)
        self._debugger.listener.noticed(
            f"{graph_title(module)}: the graph was edited after its code was generated, so calls "
            f"run other code than the graph and are not debugged; call recompile() after edits"
        )
        return None

    def program(self, module: GraphModule, name: str | None = None) -> Program:
        """The program of a GraphModule, made anew when it was recompiled."""
        title = name or graph_title(module, self._debugger.options.script)
        graph = module.graph
        elsewhere = functools.partial(self._bodies.program, module, graph, 2)
        return self._debugger.program_for(
            module, graph, forward_of(module), title, elsewhere=elsewhere
        )
