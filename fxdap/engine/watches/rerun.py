"""Which nodes may be run a second time without a trace: no writes, no randomness, no side effects.

After such nodes the watches may look at many values at once and, if one is bad, go back to the
node that made it. Anything not known to be harmless is looked at right after it ran.
"""

from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket

from fxdap.engine.opaque import runs_python
from fxdap.engine.program import Program, Step
from fxdap.engine.writes import find_writes

_RANDOM = (
    "dropout", "bernoulli", "multinomial", "poisson", "normal", "rand", "rrelu", "gumbel",
    "fractional_max_pool", "binomial", "cauchy", "exponential", "geometric", "lstm", "gru", "rnn",
    "scaled_dot_product_attention", "multi_head_attention", "multihead", "fractional", "seed",
)  # fmt: skip
"""Parts of the names of what may draw random numbers."""

_KNOWN_BUILTINS = (
    getattr, len, int, float, bool, min, max, sum, abs, tuple, list, dict, slice, round,
)  # fmt: skip


class OneTimeNodes:
    """The nodes of a program that may not run twice. Modules can be switched between runs."""

    def __init__(self, program: Program) -> None:
        self._layers = [
            layer
            for step in program.steps
            if step.op == "call_module"
            for layer in _layers(program.module, str(step.target))
        ]
        self._state = self._switches()
        writes = find_writes(program)
        self.indices = frozenset(
            i
            for i, step in enumerate(program.steps)
            if not _may_rerun(program.module, step, writes=i in writes)
        )

    def are_current(self) -> bool:
        """Whether the modules are switched as they were."""
        return self._switches() == self._state

    def _switches(self) -> list[tuple[bool, bool]]:
        return [(layer.training, getattr(layer, "inplace", False)) for layer in self._layers]


def only_writes(module: torch.nn.Module, step: Step) -> bool:
    """Whether running the node again does the same, if what it writes to is as it was."""
    if runs_python(module, step):
        return False
    if step.op == "call_module":
        layers = _layers(module, str(step.target))
        return bool(layers) and all(map(_is_torchs_own, layers))
    return _drops_nothing(step) or not _is_random(step.target)


def _may_rerun(module: torch.nn.Module, step: Step, *, writes: bool) -> bool:
    """Whether running the node again gives the same and changes nothing."""
    if step.op in ("placeholder", "get_attr", "output"):
        return True
    if runs_python(module, step):
        return False
    if step.op == "call_module":
        layers = _layers(module, str(step.target))
        return bool(layers) and all(_is_harmless(layer) for layer in layers)
    return not writes and only_writes(module, step)


def _drops_nothing(step: Step) -> bool:
    """Whether a call that may drop values at random is told not to."""
    name = str(getattr(step.target, "__name__", step.target)).partition(".")[0]
    if name == "scaled_dot_product_attention":
        return _given(step, 4, "dropout_p", 0.0) == 0.0
    if name == "dropout":
        keyword = "train" if isinstance(step.target, OpOverload) else "training"
        return _given(step, 2, keyword, True) is False
    return False


def _given(step: Step, position: int, keyword: str, default: object) -> object:
    return step.args[position] if len(step.args) > position else step.kwargs.get(keyword, default)


def _is_random(target: Any) -> bool:
    if isinstance(target, OpOverload):
        return torch.Tag.nondeterministic_seeded in target.tags
    if isinstance(target, OpOverloadPacket):
        return any(_is_random(getattr(target, name)) for name in target._overload_names)
    if getattr(target, "__module__", None) == "builtins" and not hasattr(target, "__self__"):
        return target not in _KNOWN_BUILTINS
    return _sounds_random(str(getattr(target, "__name__", target)))


def _sounds_random(name: str) -> bool:
    return any(word in name for word in _RANDOM)


def _layers(module: torch.nn.Module, target: str) -> list[torch.nn.Module]:
    try:
        return list(module.get_submodule(target).modules())
    except AttributeError:
        return []


def _is_harmless(layer: torch.nn.Module) -> bool:
    """torch's own layers as they are switched now; observers and quantizers write at any time."""
    return _is_torchs_own(layer) and not getattr(layer, "inplace", False)


def _is_torchs_own(layer: torch.nn.Module) -> bool:
    """A layer that changes nothing but its input, and draws nothing."""
    name = type(layer).__name__.lower()
    if not type(layer).__module__.startswith("torch.nn.modules.") or layer._forward_hooks:
        return False
    if getattr(layer, "max_norm", None) is not None:
        return False
    return "fractional" not in name and not (
        layer.training and (layer._buffers or _sounds_random(name))
    )
