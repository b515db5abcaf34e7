"""Which nodes may be run a second time without a trace: no writes, no randomness, no side effects.

After such nodes the watches may look at many values at once and, if one is bad, go back to the
node that made it. Anything not known to be harmless is looked at right after it ran.
"""

import operator
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import Node

from fxdap.engine.opaque import runs_python
from fxdap.engine.program import Program

_RANDOM = (
    "dropout",
    "bernoulli",
    "multinomial",
    "poisson",
    "normal",
    "rand",
    "rrelu",
    "gumbel",
    "fractional_max_pool",
    "binomial",
    "cauchy",
    "exponential",
    "geometric",
    "scaled_dot_product_attention",
    "multi_head_attention",
    "multihead",
    "rnn",
    "lstm",
    "gru",
)
_STATEFUL = ("batch_norm", "batchnorm", "instance_norm", "instancenorm", "manual_seed", "set_", "fake_quant", "observer")
_BUILTINS = {getattr, len, int, float, bool, min, max, sum, abs, tuple, list, dict, slice, round}
_MODULES = (
    "linear",
    "conv",
    "normalization",
    "pooling",
    "sparse",
    "flatten",
    "padding",
    "upsampling",
    "pixelshuffle",
    "distance",
    "fold",
    "loss",
    "activation",
    "batchnorm",
    "container",
    "dropout",
    "instancenorm",
    "rnn",
)


class OneTimeNodes:
    """The nodes of a program that may not run twice. Modules can be switched between runs."""

    def __init__(self, program: Program) -> None:
        self._layers = [
            layer
            for node in program.nodes
            if node.op == "call_module"
            for layer in _layers(program.module, str(node.target))
            if _depends(layer)
        ]
        self._state = self._switches()
        nodes = enumerate(program.nodes)
        self.indices = frozenset(i for i, n in nodes if not may_rerun(program.module, n))

    def are_current(self) -> bool:
        """Whether the modules are switched as they were."""
        return self._switches() == self._state

    def _switches(self) -> list[tuple[bool, bool]]:
        return [(layer.training, getattr(layer, "inplace", False)) for layer in self._layers]


def may_rerun(module: torch.nn.Module, node: Node) -> bool:
    """Whether running the node again gives the same and changes nothing."""
    if node.op in ("placeholder", "get_attr", "output"):
        return True
    if runs_python(module, node) or _asks_in_place(node):
        return False
    if node.op == "call_function":
        return _is_pure_function(node.target)
    if node.op == "call_method":
        return _is_pure_name(str(node.target))
    return _is_pure_module(module, str(node.target))


def _asks_in_place(node: Node) -> bool:
    return "out" in node.kwargs or bool(node.kwargs.get("inplace")) or _positional_in_place(node)


def _positional_in_place(node: Node) -> bool:
    """`F.relu(x, True)`."""
    functional = getattr(node.target, "__module__", None) == "torch.nn.functional"
    return functional and any(argument is True for argument in node.args)


def _is_pure_function(target: Any) -> bool:
    if isinstance(target, OpOverload):
        random = torch.Tag.nondeterministic_seeded in target.tags
        return not target._schema.is_mutable and not random
    if isinstance(target, OpOverloadPacket):
        return all(_is_pure_function(getattr(target, name)) for name in target.overloads())
    home = getattr(target, "__module__", None)
    if home == "_operator":
        return not (target.__name__.startswith("i") and hasattr(operator, target.__name__[1:])) and (
            target not in (operator.setitem, operator.delitem)
        )
    if home == "builtins" and not hasattr(target, "__self__"):
        return target in _BUILTINS
    return _is_pure_name(str(getattr(target, "__name__", "_")))


def _is_pure_name(name: str) -> bool:
    if name.endswith("_") and not name.endswith("__"):
        return False
    if name.startswith("__i") and name not in ("__invert__", "__index__", "__int__", "__iter__"):
        return False
    if name in ("__setitem__", "backward", "retain_grad", "register_hook", "share_memory"):
        return False
    return not any(word in name for word in (*_RANDOM, *_STATEFUL))


def _is_pure_module(module: torch.nn.Module, target: str) -> bool:
    layers = _layers(module, target)
    return bool(layers) and all(_is_pure_layer(layer) for layer in layers)


def _layers(module: torch.nn.Module, target: str) -> list[torch.nn.Module]:
    try:
        return list(module.get_submodule(target).modules())
    except AttributeError:
        return []


def _is_pure_layer(layer: torch.nn.Module) -> bool:
    home, _, file = type(layer).__module__.rpartition(".")
    if home != "torch.nn.modules" or file not in _MODULES or getattr(layer, "inplace", False):
        return False
    always = "fractional" in type(layer).__name__.lower() or layer._forward_hooks
    return not always and not (layer.training and _depends(layer))


def _depends(layer: torch.nn.Module) -> bool:
    """Whether what a layer does depends on how it is switched."""
    return hasattr(layer, "inplace") or not _is_pure_name(type(layer).__name__.lower())
