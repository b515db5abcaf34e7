"""What torch.fx.Interpreter and Transformer call, with what, and what they do with the answer.

From torch/fx/interpreter.py of torch 2.13; a test compares the signatures with the torch at hand.
"""

from typing import NamedTuple


class Contract(NamedTuple):
    """One method: its parameters after `self`, how many are given by position, what it is for."""

    parameters: tuple[str, ...]
    text: str
    returns_value: bool = True
    called_by_torch: bool = True

    def signature(self, name: str) -> str:
        """The definition's first line, without `def` and colon."""
        return f"{name}({', '.join(('self', *self.parameters))})"


_OPCODE = (
    "Called by `run_node` for every `{op}` node, by position. `args` and `kwargs` hold values, "
    "no nodes. **What it returns is the node's value**; without `return` it is None."
)
_OPERANDS = ("target", "args", "kwargs")

METHODS: dict[str, Contract] = {
    "run": Contract(
        ("*args", "initial_env=None", "enable_io_processing=True"),
        "Runs the graph. Inputs are **positional**, in the order of the placeholders: keywords are "
        "not inputs, and surplus inputs are ignored silently. `initial_env` maps Node to value; "
        "nodes in it are skipped, and the dict itself becomes `env`.",
        called_by_torch=False,
    ),
    "boxed_run": Contract(
        ("args_list",),
        "As `run`, but takes the inputs out of the list, so that they can be freed early.",
        called_by_torch=False,
    ),
    "run_node": Contract(
        ("n",),
        "Called once for every node, in order. **What it returns is stored as `env[n]`**; without "
        "`return` every later node gets None. `super().run_node(n)` fetches the arguments and "
        "calls the opcode's method.",
    ),
    "placeholder": Contract(
        _OPERANDS, "Returns the next input. " + _OPCODE.format(op="placeholder")
    ),
    "get_attr": Contract(
        _OPERANDS,
        "Returns the parameter, buffer or module that `target` names. "
        + _OPCODE.format(op="get_attr"),
    ),
    "call_function": Contract(
        _OPERANDS, "`target` is the function. " + _OPCODE.format(op="call_function")
    ),
    "call_method": Contract(
        _OPERANDS,
        "`target` is the method's name, `args[0]` the object. " + _OPCODE.format(op="call_method"),
    ),
    "call_module": Contract(
        _OPERANDS,
        "`target` is the module's dotted path: `self.fetch_attr(target)` gives the module. "
        + _OPCODE.format(op="call_module"),
    ),
    "output": Contract(
        _OPERANDS, "`args[0]` is the result. What it returns is what `run` returns."
    ),
    "fetch_attr": Contract(
        ("target",), "Returns what the dotted path `target` names in `self.module`."
    ),
    "fetch_args_kwargs_from_env": Contract(
        ("n",), "Returns `(args, kwargs)` of node `n` with values from `env` in place of nodes."
    ),
    "map_nodes_to_values": Contract(
        ("args", "n"),
        "Returns `args` with every Node in it replaced by its value; `n` is the node that reads "
        "them. It is asked for **arguments before a node runs**; it is not told a node's result. "
        "To see results, override `run_node`.",
    ),
}

TRANSFORMER_METHODS: dict[str, Contract] = {
    "transform": Contract(
        (),
        "Runs the interpreter with proxies and returns a new GraphModule of what was recorded.",
        called_by_torch=False,
    ),
}

FXDAP_METHODS: dict[str, Contract] = {
    "register_node_pre_hook": Contract(
        ("hook", "*", "where=None"),
        "`hook(node, args, kwargs)` is called before each node that the selector `where` matches. "
        "Returns a handle with `remove()`.",
        called_by_torch=False,
    ),
    "register_node_post_hook": Contract(
        ("hook", "*", "where=None"),
        "`hook(node, value)` is called after each node that `where` matches; what it returns, if "
        "not None, replaces the value. Returns a handle with `remove()`.",
        called_by_torch=False,
    ),
}

ATTRIBUTES = {
    "env", "graph", "module", "submodules", "garbage_collect_values", "name",
    "user_to_last_uses", "extra_traceback", "args_iter", "new_graph", "tracer", "node_values",
}  # fmt: skip
"""Attributes that instances have, beside the methods."""

RUN_KEYWORDS = {"initial_env", "enable_io_processing"}
