"""The modules a node ran in, read from `nn_module_stack` as each tracer records it."""

import re
from dataclasses import dataclass
from functools import lru_cache

from torch.fx import Node

# A decorated forward has its module in `args[0]`.
_DYNAMO_ROOT = re.compile(r"""^[LG]\[(['"])(?:args\1\]\[0\]|.*?\1\])""")
_MODULES_ITEM = re.compile(r"""\._modules(?=\[)""")
_ITEM = re.compile(r"""\[['"]?(.*?)['"]?\]""")
_CALL = re.compile(r"@(\d+)$")
_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
"""What torch.export writes for a node that one of its passes made."""


@dataclass(frozen=True, slots=True)
class ModuleScope:
    """One call of one module. `path` is dotted, as `named_modules` prints it."""

    path: str
    class_name: str
    qualified_class: str
    call: int = 0
    """0 for the first call of this module in the graph, 1 for the second, and so on."""


def module_scopes(node: Node) -> tuple[ModuleScope, ...]:
    """The modules around a node, outermost first, without the root.

    A node of an AOT backward graph has those of the forward node it belongs to.
    """
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not isinstance(stack, dict) or not stack or not _ran_in_a_module(node):
        return ()
    entries = []
    for key, value in stack.items():
        path, owner = value if isinstance(value, tuple) and len(value) == 2 else (value, "")
        entries.append((str(key), str(path), _class_path(owner)))
    return _scopes(tuple(entries))


def enclosing_scopes(node: Node) -> tuple[ModuleScope, ...]:
    """The modules whose forward the node stands in: without the module that it calls itself."""
    scopes = module_scopes(node)
    return scopes[:-1] if _is_call(node, scopes) else scopes


def called_class(node: Node) -> str:
    """The class of the module that a call_module calls, "" where the tracer did not say."""
    scopes = module_scopes(node) if node.op == "call_module" else ()
    return scopes[-1].class_name if _is_call(node, scopes) else ""


def _is_call(node: Node, scopes: tuple[ModuleScope, ...]) -> bool:
    return node.op == "call_module" and bool(scopes) and scopes[-1].path == node.target


def _ran_in_a_module(node: Node) -> bool:
    """Tracers stamp inputs and guards with the scope of their first use: those are the root's."""
    return node.op not in ("placeholder", "output") and node.target != "_guards_fn"


def _class_path(owner: object) -> str:
    if isinstance(owner, type):
        return f"{owner.__module__}.{owner.__qualname__}"
    return str(owner)


@lru_cache(maxsize=8192)
def _scopes(entries: tuple[tuple[str, str, str], ...]) -> tuple[ModuleScope, ...]:
    scopes = []
    for key, raw_path, qualified in entries:
        path = dotted_path(raw_path)
        if not path or path == _NO_MODULE:
            continue
        call = _CALL.search(key) or _CALL.search(raw_path)
        scopes.append(
            ModuleScope(
                path=path,
                class_name=qualified.rpartition(".")[2],
                qualified_class=qualified,
                call=int(call[1]) if call else 0,
            )
        )
    return tuple(scopes)


@lru_cache(maxsize=8192)
def dotted_path(path: str) -> str:
    """`L['self'].blocks[0]`, `L['self']._modules['blocks']` or `blocks.0@1` as `blocks.0`."""
    path = _CALL.sub("", path)
    path = _DYNAMO_ROOT.sub("", path)
    path = _MODULES_ITEM.sub("", path)
    return _ITEM.sub(r".\1", path).strip(".")
