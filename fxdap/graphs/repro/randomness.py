"""Whether nodes draw random numbers, so that a script must begin with the same random state."""

from collections.abc import Iterable

import torch
from torch._ops import OpOverload
from torch.fx import Node

from fxdap.view.nested import graph_used_by
from fxdap.view.node_text import target_name

_WORDS = ("rand", "drop", "bernoulli", "normal", "uniform", "multinomial", "exponential", "poisson")


def draws_random(module: torch.nn.Module, nodes: Iterable[Node]) -> bool:
    """Whether any of a module's nodes may draw; called bodies and modules count."""
    return any(_draws(module, node) for node in nodes)


def _draws(module: torch.nn.Module, node: Node) -> bool:
    if (
        isinstance(node.target, OpOverload)
        and torch.Tag.nondeterministic_seeded in node.target.tags
    ):
        return True
    if any(word in target_name(node) for word in _WORDS):
        return True
    for user in (node, *node.all_input_nodes):
        if user.op not in ("call_module", "get_attr"):
            continue
        body = graph_used_by(module, user)
        if body is not None and draws_random(body, body.graph.nodes):
            return True
    if node.op == "call_module":
        called = module.get_submodule(str(node.target)).modules()
        return any("Drop" in type(m).__name__ or type(m).__name__ == "RReLU" for m in called)
    return False
