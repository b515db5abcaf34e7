"""The graphs that a node calls, and what a call of them is."""

from weakref import WeakKeyDictionary

from torch.nn import Module

from fxdap.engine.frame import Frame
from fxdap.engine.program import Program
from fxdap.view.nested import graph_used_by

_ITERATING = {"while_loop", "while_loop_stack_output", "map_impl", "scan", "associative_scan"}


def called_graphs(program: Program, index: int) -> list[tuple[str, Module]]:
    """The graph modules that node `index` calls or hands to what it calls, by their names."""
    node = program.nodes[index]
    if node.op == "call_module":
        named = [node]
    else:
        named = [each for each in node.all_input_nodes if each.op == "get_attr"]
    found = ((str(each.target), graph_used_by(program.module, each)) for each in named)
    return [(name, module) for name, module in found if module is not None]


def only_caller(program: Program, body: Module) -> int | None:
    """The one node that calls `body`; None if several do."""
    found = _callers.get(program)
    if found is None:
        found = _callers[program] = _find_callers(program)
    return found.get(id(body))


_callers: WeakKeyDictionary[Program, dict[int, int | None]] = WeakKeyDictionary()


def _find_callers(program: Program) -> dict[int, int | None]:
    """Every graph module that nodes call, by its id, with its only caller."""
    callers: dict[int, int | None] = {}
    for node in program.nodes:
        if node.op not in ("get_attr", "call_module"):
            continue
        module = graph_used_by(program.module, node)
        if module is not None:
            users = [node] if node.op == "call_module" else list(node.users)
            alone = len(users) == 1 and id(module) not in callers
            callers[id(module)] = program.index[users[0]] if alone else None
    return callers


def graphs_ahead(frame: Frame) -> list[tuple[str, Module]]:
    """The graphs that the node about to run will call: of a cond, the branch that is taken.

    Reads the node's arguments, so it belongs on the frame's thread.
    """
    found = called_graphs(frame.program, frame.position)
    op = getattr(frame.node.target, "__name__", "")
    if op == "autograd_function_apply":
        return found[:1]
    if op == "cond" and len(found) == 2:
        try:
            return found[:1] if frame.argument(frame.node.args[0]) else found[1:]
        except RuntimeError:
            return found
    return found


def iterates(program: Program) -> bool:
    """Whether the graph is the body of a loop: its calls are iterations."""
    body = program.origin or program
    return getattr(getattr(body.user, "target", None), "__name__", "") in _ITERATING
