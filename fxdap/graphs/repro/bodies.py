"""Graph modules, such as the bodies of higher-order ops, as functions that build them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule, Node

from fxdap.engine.execute import fetch_attribute
from fxdap.graphs.naming import graph_title
from fxdap.graphs.repro.arguments import argument_text, variable

if TYPE_CHECKING:
    from fxdap.graphs.repro.literals import Literals


class Bodies:
    """Writes one function per graph module; inner ones come first."""

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self._builders: dict[int, tuple[GraphModule, str]] = {}
        self.functions: list[str] = []

    def builder(self, module: GraphModule, name: str) -> str:
        """The name of the function that builds `module`."""
        known = self._builders.get(id(module))
        if known is not None:
            return known[1]
        taken = {name for _, name in self._builders.values()}
        function, count = f"make_{name}", 2
        while function in taken:
            function, count = f"make_{name}_{count}", count + 1
        self._builders[id(module)] = (module, function)
        self.functions.append(self._function(module, function))
        return function

    def _function(self, module: GraphModule, function: str) -> str:
        lines = [f"def {function}():", "    _root = torch.nn.Module()"]
        lines += self._state(module)
        lines.append("    _graph = torch.fx.Graph()")
        lines += [f"    {self._node(node)}" for node in module.graph.nodes]
        lines.append(f'    return torch.fx.GraphModule(_root, _graph, "{graph_title(module)}")')
        return "\n".join(lines) + "\n"

    def _state(self, module: GraphModule) -> list[str]:
        lines, done = [], set[str]()
        for node in module.graph.nodes:
            target = str(node.target)
            if node.op not in ("get_attr", "call_module") or target in done:
                continue
            done.add(target)
            value = fetch_attribute(module, target)
            text = self._literals.named(target.replace(".", "_"), value)
            lines.append(f"    {self._literals.need_put()}(_root, {target!r}, {text})")
        return lines

    def _node(self, node: Node) -> str:
        def write(value: Any) -> str:
            return argument_text(value, self._literals)

        if node.op == "output":
            return f"_graph.output({write(node.args[0])})"
        if node.op == "call_function":
            target = self._literals.imports.name_of(node)
        else:
            target = repr(node.target)
        args, kwargs = write(tuple(node.args)), write(dict(node.kwargs))
        given = f"{node.op!r}, {target}, {args}, {kwargs}, {node.name!r}"
        return f"{variable(node)} = _graph.create_node({given})"
