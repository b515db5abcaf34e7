"""What running a node changes beside its own value: what going back must undo, or cannot."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.fx import GraphModule

from fxdap.engine.execute import fetch_attribute
from fxdap.engine.opaque import namespace, qualified_name, runs_python
from fxdap.engine.program import Program, Step
from fxdap.engine.write_rules import Write, bodies, is_torchs, node_write
from fxdap.engine.writes import find_writes


@dataclass(frozen=True)
class Effect:
    """One node's effects. A node that only computes its value has none of these."""

    write: Write | None = None
    random: bool = False
    modes: bool = False
    """It may change grad mode, autocast, inference mode or another switch of torch."""
    enters: bool = False
    """Its value is a context that it entered; `leaves`: its argument is one that it left."""
    leaves: bool = False
    outside: str = ""
    """What it does that cannot be undone, as a phrase after the node's name."""
    barrier: bool = False
    """Going back over it would leave torch in a state that never was."""

    @property
    def unknown(self) -> bool:
        """Whether it runs code that nothing is known of."""
        return self.write is not None and self.write.unknown


_found: weakref.WeakKeyDictionary[Program, dict[int, Effect]] = weakref.WeakKeyDictionary()


def find_effects(program: Program) -> Mapping[int, Effect]:
    """The program's nodes with effects, by index in execution order; worked out once."""
    found = _found.get(program)
    if found is None:
        found = _found[program] = dict(_find(program))
    return found


def _find(program: Program) -> Iterator[tuple[int, Effect]]:
    writes = find_writes(program)
    plain: dict[int, bool] = {}
    for index, step in enumerate(program.steps):
        if step.op in ("call_function", "call_method", "call_module"):
            key = id(step.target)
            if key not in plain:
                plain[key] = _is_plain(step)
            if plain[key] and index not in writes:
                continue
            effect = _effect(program.module, step, writes.get(index))
            if effect != Effect():
                yield index, effect


def _is_plain(step: Step) -> bool:
    """Whether a node is known to have no effect by what it calls alone."""
    return step.op == "call_function" and is_torchs(step.target) and _only_computes(step.target)


@lru_cache(maxsize=8192)
def _only_computes(target: Any) -> bool:
    if isinstance(target, OpOverload) and torch.Tag.nondeterministic_seeded in target.tags:
        return False
    return _effect(_NOWHERE, Step("call_function", target, (), {}), None) == Effect()


_NOWHERE = torch.nn.Module()


def _effect(module: torch.nn.Module, step: Step, write: Write | None) -> Effect:
    name = str(getattr(step.target, "__name__", step.target))
    known = _nested(module, step)
    if known is not None:
        return Effect(write, **known)
    unknown = write is not None and write.unknown
    return Effect(
        write,
        random=unknown or _is_random(module, step, name),
        modes=unknown or (step.op == "call_function" and name.startswith(_SWITCHES)),
        enters=name in _ENTER,
        leaves=name in _EXIT,
        outside=_outside(module, step, name),
        barrier=name.endswith(("_increment_nesting", "_decrement_nesting")),
    )


def _nested(module: torch.nn.Module, step: Step) -> dict[str, Any] | None:
    """The effects of the graphs that a node runs, together; None if it runs none."""
    found = list(bodies(module, step)) if _runs_graphs(module, step) else []
    if not found:
        return None
    inner = [effect for body in found for effect in _body_effects(body)]
    outside = next((effect.outside for effect in inner if effect.outside), "")
    return {
        "random": any(effect.random for effect in inner),
        "modes": any(effect.modes for effect in inner),
        "outside": f"runs a graph with a node that {outside}" if outside else "",
        "barrier": any(effect.barrier for effect in inner),
    }


def _runs_graphs(module: torch.nn.Module, step: Step) -> bool:
    if step.op == "call_module":
        return isinstance(_called(module, step), GraphModule)
    return isinstance(step.target, HigherOrderOperator)


def _body_effects(body: GraphModule) -> Iterator[Effect]:
    for node in body.graph.nodes:
        if node.op in ("call_function", "call_method", "call_module"):
            step = Step(node.op, node.target, node.args, node.kwargs)
            yield _effect(body, step, node_write(body, step))


def _called(module: torch.nn.Module, step: Step) -> Any:
    try:
        return fetch_attribute(module, str(step.target))
    except AttributeError:
        return None


_ENTER = ("_enter_autocast", "_enter_inference_mode")
_EXIT = ("_exit_autocast", "_exit_inference_mode")
_SWITCHES = ("_set_", "set_", "use_", *_ENTER, *_EXIT)
_WORDS = (
    "rand", "bernoulli", "normal", "uniform", "multinomial", "exponential", "poisson", "binomial",
    "geometric", "cauchy", "gumbel", "gamma", "dirichlet", "drop", "rrelu", "fractional", "seed",
    "attention", "lstm", "gru", "rnn", "transformer", "lowrank", "lobpcg", "shuffle", "kaiming",
    "xavier", "orthogonal",
)  # fmt: skip
"""In the names of what draws random numbers; one word too many costs two microseconds a node."""


def _is_random(module: torch.nn.Module, step: Step, name: str) -> bool:
    if isinstance(step.target, OpOverload):
        if torch.Tag.nondeterministic_seeded not in step.target.tags:
            return False
        return not _never_drops(step)
    if step.op == "call_module":
        called = _called(module, step)
        kinds = {type(inner).__name__.lower() for inner in called.modules()} if called else set()
        return any(word in kind for kind in kinds for word in _WORDS)
    return any(word in name.lower() for word in _WORDS)


def _never_drops(step: Step) -> bool:
    """Attention is random only with a dropout probability."""
    if "attention" not in str(step.target):
        return False
    names = [argument.name for argument in step.target._schema.arguments]
    given = {**dict(zip(names, step.args, strict=False)), **step.kwargs}
    return bool(given.get("dropout_p", 0.0) == 0.0)


_COLLECTIVES = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "symm_mem")
_OWN = ("quantized", "quantized_decomposed", "torchvision", "profiler", "inductor", "mkldnn")


def _outside(module: torch.nn.Module, step: Step, name: str) -> str:
    """A phrase for what the node may do that nothing here can undo; "" for most nodes."""
    target = step.target
    home = str(getattr(target, "__module__", None) or "")
    if isinstance(target, (OpOverload, OpOverloadPacket)):
        if namespace(target) in _COLLECTIVES:
            return "takes part in a collective, and other ranks do not go back"
        custom = runs_python(module, step) and namespace(target) not in _OWN
        return f"runs the custom operator {qualified_name(target)}" if custom else ""
    if home.startswith("torch.distributed"):
        return "takes part in a collective, and other ranks do not go back"
    if isinstance(target, HigherOrderOperator):
        return "" if name.startswith("auto_functionalized") else f"runs {name}"
    if step.op == "call_module":
        called = _called(module, step)
        unknown = called is not None and node_write(module, step)
        return f"runs the Python of {type(called).__name__}" if unknown and unknown.unknown else ""
    if home == "builtins":
        write = node_write(module, step)
        return f"calls {name}" if write is not None and write.unknown else ""
    return f"runs the Python function {name}" if runs_python(module, step) else ""
