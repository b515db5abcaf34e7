"""What inputs and outputs of a compiled graph are to the user: `layers.0.weight`, `x.size()[0]`.

Dynamo names its placeholders after the path it found them by, AOT autograd numbers them.
"""

import re
import weakref
from collections.abc import Iterable
from typing import Any

from torch.fx import Node

from fxdap.view.scope import dotted_path

_MEMBER = re.compile(r"\._(?:parameters|buffers)(?=\[)")
_ROOT = re.compile(r"""^[LG]\[(['"])(.*?)\1\]""")

_remembered: "weakref.WeakKeyDictionary[Node, str]" = weakref.WeakKeyDictionary()
_outputs: "weakref.WeakKeyDictionary[Node, tuple[str, ...]]" = weakref.WeakKeyDictionary()


def remember_input(node: Node, name: str) -> None:
    """Note what a placeholder stands for, beside a graph that does not say so itself."""
    _remembered[node] = name


def remember_outputs(node: Node, names: Iterable[str]) -> None:
    """Note what the items that an output node returns stand for, one name for each."""
    _outputs[node] = tuple(names)


def output_names(node: Node) -> tuple[str, ...]:
    """What the items of an output node stand for; empty if nothing tells."""
    return _outputs.get(node, ())


def input_name(node: Node) -> str | None:
    """What the user calls this placeholder's value, if anything tells."""
    known = _remembered.get(node)
    if known is not None:
        return known
    source = getattr(node, "_dynamo_source", None)
    return source_name(source) if source is not None else None


def source_name(source: Any) -> str | None:
    """Dynamo's path to a value as the user would write it."""
    name = getattr(source, "name", None)
    path = name() if callable(name) else name
    return user_path(path) if isinstance(path, str) else None


def user_path(path: str) -> str:
    """`L['self']._modules['a']._parameters['w']` as `a.w`, `L['x'].size()[0]` as `x.size()[0]`."""
    if _MEMBER.search(path):
        return dotted_path(_MEMBER.sub("", path))
    return _ROOT.sub(r"\2", path)
