"""The script itself: imports, inputs, the nodes as plain calls, and the last value printed."""

from torch.fx import Node

from fxdap.graphs.repro.arguments import argument_text, variable
from fxdap.graphs.repro.literals import HELPERS
from fxdap.graphs.repro.record import Recording
from fxdap.view.node_text import node_line


def write_script(recording: Recording) -> str:
    """The text of the script."""
    body = _body(recording)
    literals = recording.literals
    parts = [_heading(recording), _imports(recording)]
    parts += [HELPERS[name].strip("\n") + "\n" for name in HELPERS if name in literals.helpers]
    parts += literals.bodies.functions
    parts.append(body)
    return "\n\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _heading(recording: Recording) -> str:
    at = recording.slice.at
    count = len(recording.slice.nodes)
    before = f" and {count - 1} node{'s' if count > 2 else ''} that lead to it" if count > 1 else ""
    return (
        f'"""%{at.name}{before}, of {recording.title}, with recorded inputs.\n\n'
        f"    {_plain(node_line(at))}\n\n"
        f"fxdap saw: {_plain(recording.seen)}\n"
        f'"""'
    )


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _imports(recording: Recording) -> str:
    imports = recording.literals.imports
    modules = [f"import {name}" for name in sorted(imports.modules)]
    if not imports.folders:
        return "\n".join(modules)
    folders = [f"sys.path.insert(0, {folder!r})" for folder in sorted(imports.folders)]
    names = [f"from {module} import {name}" for module, name in sorted(imports.main_names)]
    return "\n".join(["import sys", "", *folders, "", *modules, *names])


def _body(recording: Recording) -> str:
    lines = []
    if not recording.grad:
        lines.append("torch.set_grad_enabled(False)")
    lines += [f"{variable(node)} = {text}" for node, text in recording.inputs.items()]
    if recording.random is not None:
        lines.append(f"torch.set_rng_state({recording.random})")
    nodes = [line for node in recording.slice.nodes for line in _statements(node, recording)]
    return "\n".join([*lines, "", *nodes, f"print({variable(recording.slice.at)})"])


def _statements(node: Node, recording: Recording) -> list[str]:
    """The node as a call; a module it calls comes before it."""
    literals = recording.literals
    args = [argument_text(value, literals) for value in node.args]
    args += [f"{key}={argument_text(value, literals)}" for key, value in node.kwargs.items()]
    name = variable(node)
    if node.op == "output":
        return [f"{name} = {args[0]}"]
    if node.op == "get_attr":
        return [f"{name} = {recording.modules[node]}"]
    if node.op == "call_function":
        return [f"{name} = {literals.imports.name_of(node)}({', '.join(args)})"]
    if node.op == "call_method":
        owner, *rest = args
        return [f"{name} = {owner}.{node.target}({', '.join(rest)})"]
    called = f"{node.name}_module"
    return [f"{called} = {recording.modules[node]}", f"{name} = {called}({', '.join(args)})"]
