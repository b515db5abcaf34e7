"""What a target's name alone says: whose it is, whether it writes or shows the same storage."""

from dataclasses import dataclass
from functools import lru_cache

from fxdap.lsp.listing.line import NodeLine
from fxdap.lsp.listing.value_type import split_items

PYTHON_MODULES = ("operator", "math")
OPERATOR_NAMESPACES = ("aten", "prims")

_VIEW_NAMES = """
alias as_strided chunk detach diagonal expand expand_as movedim narrow permute select slice split
split_with_sizes squeeze swapaxes swapdims t transpose unbind unfold unsqueeze view view_as
"""
_IN_PLACE_NAMES = """
iadd iand ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor setitem
"""
_BUILTIN_NAMES = "getattr setattr len print max min abs sum isinstance int float bool"

_HIGHER_ORDER_NAMES = """
associative_scan checkpoint cond flex_attention flex_attention_backward invoke_subgraph map map_impl
scan tag_activation_checkpoint while_loop wrap wrap_activation_checkpoint wrap_with_autocast
wrap_with_set_grad_enabled
"""

_VIEWS = frozenset(_VIEW_NAMES.split())
_VIEW_TUPLES = frozenset({"chunk", "split", "split_with_sizes", "unbind"})
_IN_PLACE_OPERATORS = frozenset(_IN_PLACE_NAMES.split())
_HIGHER_ORDER = frozenset(_HIGHER_ORDER_NAMES.split())
_BUILTINS = frozenset(_BUILTIN_NAMES.split())


@dataclass(frozen=True, slots=True)
class Traits:
    """What a target's name says. `namespace` is "" for what is not torch's or Python's own."""

    base: str
    namespace: str
    view: bool
    views: bool
    in_place: bool


@lru_cache(maxsize=65536)
def traits(target: str) -> Traits:
    """`aten.add_.Tensor`, `torch.add_` and `.add_` all have the base `add_` and write in place."""
    base, namespace = _base(target), _namespace(target)
    tensors = namespace in ("aten", "prims", "torch", "method")
    writes_first = base.endswith("_") and not base.endswith("__")
    return Traits(
        base=base,
        namespace=namespace,
        view=tensors and base in _VIEWS,
        views=tensors and base in _VIEW_TUPLES,
        in_place=base in _IN_PLACE_OPERATORS if namespace == "operator" else writes_first,
    )


def _base(target: str) -> str:
    parts = target.lstrip(".").split(".")
    if parts[0] in OPERATOR_NAMESPACES and len(parts) > 1:
        return parts[1]
    return parts[-1]


def _namespace(target: str) -> str:
    if target.startswith("."):
        return "method"
    first, dot, _ = target.partition(".")
    if dot and first in ("torch", *PYTHON_MODULES, *OPERATOR_NAMESPACES):
        return first
    if target in _HIGHER_ORDER:
        return "higher_order"
    return "builtins" if target in _BUILTINS else ""


def is_function(text: NodeLine) -> bool:
    """Whether a line surely calls a function or method of torch or Python, and no module."""
    if text.class_name:
        return False
    return text.op == "call_method" or (text.op == "call" and traits(text.target).namespace != "")


@lru_cache(maxsize=65536)
def arguments_of(text: str) -> tuple[str, ...]:
    """The arguments as they are written, split at the outer commas."""
    return tuple(split_items(text))


def written_name(text: NodeLine) -> str | None:
    """The node whose value a call surely writes in place, None if it writes none."""
    arguments = text.arguments
    in_place = traits(text.target).in_place or "inplace=True" in arguments
    if not (in_place or "out=%" in arguments) or not is_function(text):
        return None
    split = arguments_of(arguments)
    for argument in split:
        if argument.startswith("out=%"):
            return argument.removeprefix("out=%")
    return split[0][1:] if in_place and split and split[0].startswith("%") else None


def module_call(text: NodeLine) -> bool:
    """Whether a line looks like the call of a submodule: fx names such nodes after its path."""
    if text.class_name:
        return True
    if text.op != "call" or is_function(text):
        return False
    made = text.target.replace(".", "_")
    return text.name == made or text.name.startswith(f"{made}_")


def opcode(text: NodeLine) -> str:
    """The opcode, as far as the line tells."""
    if text.op != "call":
        return text.op
    return "call_module" if module_call(text) else "call_function"
