"""A GraphModule that is called or handed out after its graph was edited, without `recompile()`."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from fxdap.lsp.python.classes import InterpreterClasses
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Function, Source, called_method, is_name

_TRACED = {
    "torch.fx.symbolic_trace",
    "torch.fx.GraphModule",
    "torch.fx.graph_module.GraphModule",
    "torch.fx._symbolic_trace.symbolic_trace",
}
_MODULE_TYPES = {"torch.fx.GraphModule", "torch.fx.graph_module.GraphModule"}
_GRAPH_EDITS = {
    "call_function", "call_method", "call_module", "get_attr", "placeholder", "create_node",
    "erase_node", "eliminate_dead_code", "node_copy", "graph_copy",
}  # fmt: skip
_NODE_EDITS = {"replace_all_uses_with", "replace_input_with", "update_arg", "update_kwarg"}
_NODE_FIELDS = {"target", "args", "kwargs"}
_READS_ONLY = {"print", "isinstance", "type", "len", "id", "repr", "str", "hasattr", "getattr"}


@dataclass
class _Module:
    """A variable that holds a GraphModule, and what a function does with it."""

    name: str
    traced_here: bool
    graphs: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    last_edit: int = 0


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """Functions that trace, or are given, a GraphModule."""
    for function in source.scopes:
        if isinstance(function, ast.Module):
            continue
        for module in _modules(source, function):
            _note_edits(source, function, module)
            if module.last_edit and not _goes_elsewhere(source, function, module, classes):
                yield from _stale_uses(source, function, module)


def _modules(source: Source, function: Function) -> Iterator[_Module]:
    for argument in function.args.args:
        annotation = argument.annotation
        if annotation is not None and source.qualified(annotation) in _MODULE_TYPES:
            yield _Module(argument.arg, traced_here=False)
    for node in source.own(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = node.targets[0]
            if isinstance(target, ast.Name) and source.qualified(node.value.func) in _TRACED:
                yield _Module(target.id, traced_here=True)


def _note_edits(source: Source, function: Function, module: _Module) -> None:
    module.graphs = {f"{module.name}.graph"}
    for node in source.own(function):
        if isinstance(node, ast.Assign) and source.segment(node.value) in module.graphs:
            module.graphs |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            if _is_nodes(source, node.iter, module):
                module.nodes.add(node.target.id)
        elif _edits(source, node, module):
            assert isinstance(node, (ast.expr, ast.stmt))
            module.last_edit = max(module.last_edit, node.lineno)


def _is_nodes(source: Source, iterated: ast.expr, module: _Module) -> bool:
    """`g.nodes`, or `list(g.nodes)` and the like."""
    if isinstance(iterated, ast.Call) and len(iterated.args) == 1:
        return _is_nodes(source, iterated.args[0], module)
    return (
        isinstance(iterated, ast.Attribute)
        and iterated.attr == "nodes"
        and source.segment(iterated.value) in module.graphs
    )


def _edits(source: Source, node: ast.AST, module: _Module) -> bool:
    called = called_method(node)
    if called is not None:
        owner, name = source.segment(called[0]), called[1]
        on_graph = name in _GRAPH_EDITS and owner in module.graphs
        return on_graph or (name in _NODE_EDITS and owner in module.nodes)
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr in _NODE_FIELDS
        and source.segment(node.value) in module.nodes
    )


def _goes_elsewhere(
    source: Source, function: Function, module: _Module, classes: InterpreterClasses
) -> bool:
    """Whether it is recompiled here, or something else may do it."""
    handed_on = {module.name, *module.graphs}
    for node in ast.walk(function):
        called = called_method(node)
        if called and called[1] in ("recompile", "add_submodule", "compile"):
            return True
        if _assigns_graph(node, module):
            return True
        if isinstance(node, ast.Call) and not _only_reads(node, classes):
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(source.segment(a) in handed_on for a in given):
                return True
        if isinstance(node, ast.Lambda):
            return True
    return False


def _assigns_graph(node: ast.AST, module: _Module) -> bool:
    """Assigning a module's graph recompiles it."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr == "graph"
        and is_name(node.value, module.name)
    )


def _only_reads(call: ast.Call, classes: InterpreterClasses) -> bool:
    if isinstance(call.func, ast.Name) and call.func.id in _READS_ONLY:
        return True
    return classes.named(call.func) is not None


def _stale_uses(source: Source, function: Function, module: _Module) -> Iterator[Finding]:
    for node in source.own(function):
        if not isinstance(node, ast.stmt) or node.lineno <= module.last_edit:
            continue
        if _is_compound(node):
            continue
        returned = isinstance(node, ast.Return) and is_name(node.value, module.name)
        if (returned and module.traced_here) or _calls(node, module.name):
            yield _finding(source, node, module, "returned" if returned else "called")
            return


def _is_compound(statement: ast.stmt) -> bool:
    return hasattr(statement, "body")


def _calls(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Call) and is_name(n.func, name) for n in ast.walk(statement))


def _finding(source: Source, statement: ast.stmt, module: _Module, what: str) -> Finding:
    name = module.name
    text = f"{name}.graph.lint()\n{source.indent(statement)}{name}.recompile()\n"
    edit = Edit(source.place(statement).start(), text + source.indent(statement))
    return Finding(
        source.place(statement),
        "missing-recompile",
        f"{name} is {what} after its graph was edited, but still runs the code that was generated "
        f"before: call {name}.recompile() (and {name}.graph.lint() to check the edits).",
        "warning",
        fix=Fix("Lint and recompile first", (edit,)),
    )
