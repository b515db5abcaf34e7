"""Overrides that cannot take what torch calls them with."""

import ast
from collections.abc import Iterator

from fxdap.lsp.python.classes import InterpreterClass, InterpreterClasses
from fxdap.lsp.python.contracts import Contract
from fxdap.lsp.python.findings import Edit, Finding, Fix
from fxdap.lsp.python.source import Function, Place, Source

_NODE_NAMES = {"node", "n", "fx_node", "current_node"}
_VALUE_NAMES = {"value", "values", "result", "val", "output", "out"}


def check(source: Source, classes: InterpreterClasses) -> Iterator[Finding]:
    """Methods whose parameters do not fit, and `map_nodes_to_values` taken for a store."""
    for cls in classes.found.values():
        for name, method in cls.methods.items():
            contract = cls.contracts.get(name)
            if contract is None or not contract.called_by_torch or method.decorator_list:
                continue
            if name == "map_nodes_to_values" and _is_store(method):
                if cls.kind != "fxdap.Interpreter":
                    yield _store(source, cls, method, contract)
            elif not _fits(method, len(contract.parameters)):
                yield _misfit(source, method, contract)


def _is_store(method: Function) -> bool:
    names = [a.arg for a in method.args.args[1:]]
    return len(names) == 2 and names[0] in _NODE_NAMES and names[1] in _VALUE_NAMES


def _store(source: Source, cls: InterpreterClass, method: Function, contract: Contract) -> Finding:
    given = ", ".join(a.arg for a in method.args.args[1:])
    return Finding(
        source.name_place(method),
        "override-signature",
        f"torch calls map_nodes_to_values(args, n) for a node's arguments before it runs, not "
        f"({given}) with its result. Override run_node to see results, or derive from "
        f"fxdap.Interpreter, which calls it both ways.",
        fix=_derive_from_ours(source, cls),
    )


def _misfit(source: Source, method: Function, contract: Contract) -> Finding:
    count = len(contract.parameters)
    signature = contract.signature(method.name)
    return Finding(
        source.name_place(method),
        "override-signature",
        f"torch calls {method.name} with {count} positional "
        f"argument{'s' if count != 1 else ''}: the signature is {signature}.",
        fix=_with_parameters(source, method, contract),
    )


def _fits(method: Function, given: int) -> bool:
    """Whether a call with `self` and `given` arguments by position is possible."""
    arguments = method.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - 1
    required = positional - len(arguments.defaults)
    if any(default is None for default in arguments.kw_defaults):
        return False
    return required <= given and (positional >= given or arguments.vararg is not None)


def _with_parameters(source: Source, method: Function, contract: Contract) -> Fix | None:
    """Write torch's parameters, when what stands there is plain."""
    arguments = method.args.args
    if not arguments or method.args.defaults or method.args.kwonlyargs or method.args.vararg:
        return None
    first, last = source.place(arguments[0]), source.place(arguments[-1])
    place = Place(first.line, first.column, last.end_line, last.end_column)
    text = ", ".join((arguments[0].arg, *contract.parameters))
    return Fix(f"Use torch's signature ({text})", (Edit(place, text),))


def _derive_from_ours(source: Source, cls: InterpreterClass) -> Fix | None:
    return ours_as_base(source, cls.definition) if cls.definition is not None else None


def ours_as_base(source: Source, definition: ast.ClassDef) -> Fix | None:
    """Derive a class from fxdap.Interpreter in place of torch's, importing fxdap if needed."""
    if len(definition.bases) != 1:
        return None
    edits = [Edit(source.place(definition.bases[0]), "fxdap.Interpreter")]
    if not source.imports("fxdap"):
        edits.append(Edit(source.first_import(), "import fxdap\n"))
    return Fix("Derive from fxdap.Interpreter", tuple(edits))
