"""`fxdap.Interpreter`: torch's Interpreter with hooks around nodes and a store of their values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.fx import Graph, Node
from torch.fx.node import map_arg
from torch.utils.hooks import RemovableHandle

from fxdap.engine.program import Program
from fxdap.engine.selectors import Selector, SelectorError, parse_selector
from fxdap.graphs.conventions import stores_values
from fxdap.graphs.naming import graph_title

PreHook = Callable[[Node, tuple[Any, ...], dict[str, Any]], object]
PostHook = Callable[[Node, Any], Any]
_Hooks = OrderedDict[int, tuple[Any, Selector | None]]


class NodeValues(MutableMapping[Node, Any]):
    """The values an interpreter stored, over those in its `env`; writing stores a value."""

    def __init__(self, stored: dict[Node, Any], env: Mapping[Node, Any]) -> None:
        self._stored = stored
        self._env = env

    def __getitem__(self, node: Node) -> Any:
        return self._stored[node] if node in self._stored else self._env[node]

    def __setitem__(self, node: Node, value: Any) -> None:
        self._stored[node] = value

    def __delitem__(self, node: Node) -> None:
        del self._stored[node]

    def __iter__(self) -> Iterator[Node]:
        yield from self._stored
        yield from (node for node in self._env if node not in self._stored)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"NodeValues({dict(self)!r})"


class _ValuesUnlessSet:
    """Gives the view until a subclass assigns a container of its own to the name.

    It has no `__set__`, so that an assignment makes a plain attribute, which hides it.
    """

    def __get__(self, interpreter: Interpreter | None, owner: type) -> Any:
        if interpreter is None:
            return self
        return NodeValues(interpreter._stored, interpreter.env)


class Interpreter(torch.fx.Interpreter):
    """Runs a graph node by node as `torch.fx.Interpreter` does, with hooks around each node.

    >>> import torch, fxdap
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> interpreter = fxdap.Interpreter(graph)
    >>> show = lambda node, value: print(node, value.tolist())
    >>> handle = interpreter.register_node_post_hook(show)
    >>> result = interpreter.run(torch.tensor([-1.0, 2.0]))
    x [-1.0, 2.0]
    relu [0.0, 2.0]
    add [1.0, 3.0]
    output [1.0, 3.0]
    >>> handle.remove()

    Hooks belong to `run_node`: a subclass that replaces it without calling `super().run_node`
    has none.
    """

    if TYPE_CHECKING:
        node_values: MutableMapping[Node, Any]
    else:
        node_values = _ValuesUnlessSet()

    _torch_looks_up: ClassVar[bool] = True
    """Whether no class after this one in the method resolution order changes the lookup."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        after = cls.__mro__[cls.__mro__.index(Interpreter) + 1 :]
        others = [c for c in after if c is not torch.fx.Interpreter]
        cls._torch_looks_up = not any("map_nodes_to_values" in c.__dict__ for c in others)

    def __init__(
        self,
        module: torch.nn.Module,
        garbage_collect_values: bool = True,
        graph: Graph | None = None,
    ) -> None:
        super().__init__(module, garbage_collect_values, graph)
        self._pre_hooks: _Hooks = OrderedDict()
        self._post_hooks: _Hooks = OrderedDict()
        self._stored: dict[Node, Any] = {}
        self._selected: dict[Selector, frozenset[Node]] = {}
        self._program: Program | None = None

    def register_node_pre_hook(self, hook: PreHook, *, where: str | None = None) -> RemovableHandle:
        """Call `hook(node, args, kwargs)` before each node, with the values of its arguments.

        `where` is a node selector (see the README): only the nodes it selects.

        >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> interpreter = Interpreter(graph)
        >>> hook = lambda node, args, kwargs: print(node, args)
        >>> handle = interpreter.register_node_pre_hook(hook, where="target:operator.add")
        >>> interpreter.run(torch.tensor([2.0])).tolist()
        add (tensor([2.]), 1)
        [3.0]
        """
        return _register(self._pre_hooks, hook, where)

    def register_node_post_hook(
        self, hook: PostHook, *, where: str | None = None
    ) -> RemovableHandle:
        """Call `hook(node, value)` after each node; what it returns, unless None, is the value.

        >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> interpreter = Interpreter(graph)
        >>> handle = interpreter.register_node_post_hook(
        ...     lambda node, value: value * 10, where="op:call_function target:torch.relu"
        ... )
        >>> interpreter.run(torch.tensor([2.0])).tolist()
        [21.0]
        >>> handle.remove()
        >>> interpreter.run(torch.tensor([2.0])).tolist()
        [3.0]
        """
        return _register(self._post_hooks, hook, where)

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Run the graph as torch's `run` does; values stored in an earlier run are forgotten."""
        self._stored = {}
        if self._program is not None and not self._program.is_current():
            self._program = None
        return super().run(
            *args, initial_env=initial_env, enable_io_processing=enable_io_processing
        )

    def run_node(self, n: Node) -> Any:
        """Run a node and the hooks around it."""
        if not self._pre_hooks and not self._post_hooks:
            return super().run_node(n)
        # The arguments are fetched once, as torch does, so this cannot go through torch's own.
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            for hook in self._hooks_for(self._pre_hooks, n):
                hook(n, args, kwargs)
            value = getattr(self, n.op)(n.target, args, kwargs)
            for hook in self._hooks_for(self._post_hooks, n):
                replaced = hook(n, value)
                value = value if replaced is None else replaced
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The values of a node's arguments.

        They come from `map_nodes_to_values` only where that is torch's or overridden as torch
        means it; an override that stores `(node, value)` is left alone.
        """
        mapping = type(self).map_nodes_to_values
        if mapping is not Interpreter.map_nodes_to_values and not stores_values(mapping):
            return super().fetch_args_kwargs_from_env(n)
        if self._torch_looks_up and type(self.env) is dict:
            value_of = self.env.__getitem__
            try:
                return map_arg(n.args, value_of), map_arg(n.kwargs, value_of)
            except KeyError:
                pass
        look_up = super().map_nodes_to_values
        return look_up(n.args, n), look_up(n.kwargs, n)  # type: ignore[return-value]

    def map_nodes_to_values(self, args: Any, n: Any) -> Any:
        """Return `args` with values in place of Nodes, or store a node's value.

        torch calls it with `(args, node)`. Called with `(node, value)` it stores the value, in
        `env` for the nodes that read it and in `node_values` for good, and returns it.

        >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> x, relu, add, output = graph.graph.nodes
        >>> interpreter = Interpreter(graph)
        >>> interpreter.map_nodes_to_values(relu, 5)
        5
        >>> interpreter.map_nodes_to_values(add.args, add)
        (5, 1)
        >>> interpreter.node_values[relu]
        5
        """
        if isinstance(args, Node) and not isinstance(n, Node):
            self.env[args] = n
            self.node_values[args] = n
            return n
        if isinstance(args, str) and not isinstance(n, Node):
            raise TypeError(
                f"map_nodes_to_values takes (args, node) or (node, value), not the name {args!r}: "
                f"pass the Node itself"
            )
        return super().map_nodes_to_values(args, n)

    def _hooks_for(self, hooks: _Hooks, node: Node) -> list[Any]:
        return [
            hook
            for hook, selector in hooks.values()
            if selector is None or node in self._nodes_of(selector, node)
        ]

    def _nodes_of(self, selector: Selector, node: Node) -> frozenset[Node]:
        """The nodes a selector means in the graph as it is now."""
        program = self._program
        if program is None or node not in program.index or len(program) != len(self.graph.nodes):
            program = self._program = Program(self.module, self.graph, graph_title(self.module))
            self._selected.clear()
        if selector not in self._selected:
            indices = selector.match(program).indices
            self._selected[selector] = frozenset(program.nodes[i] for i in indices)
        return self._selected[selector]


def _register(hooks: _Hooks, hook: Any, where: str | None) -> RemovableHandle:
    selector = parse_selector(where) if where is not None else None
    if selector is not None and selector.after:
        raise SelectorError(
            f"where={where!r}: a hook runs before or after by itself; drop 'after:'"
        )
    handle = RemovableHandle(hooks)
    hooks[handle.id] = (hook, selector)
    return handle
