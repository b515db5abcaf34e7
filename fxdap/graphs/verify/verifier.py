"""One run of a user's Interpreter, each node compared with what torch's own would give."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch.func import functional_call
from torch.fx import Interpreter, Node, Transformer
from torch.fx.node import map_arg

from fxdap.engine.execute import fetch_attribute
from fxdap.graphs.verify.comparison import difference
from fxdap.graphs.verify.copies import Copies, NotCopiedError
from fxdap.graphs.verify.safety import unsafe_reason
from fxdap.view.summary import summarize

_ITERATORS: tuple[type, ...] = (type(iter(())), type(iter([])))


class ValueMismatch(Exception):
    """A node's value is not what torch's own Interpreter gives for the same arguments."""


class _UnknownError(Exception):
    """What torch's Interpreter would give cannot be told."""


@dataclass(frozen=True)
class Prepared:
    """What is needed to run a node as torch does once the user's code has run it."""

    compute: Callable[[], Any]
    copies: Copies
    random: list[torch.Tensor]


def can_verify(interpreter: Interpreter) -> bool:
    """Whether an interpreter has values of its own to compare: not torch's, nor a Transformer."""
    return type(interpreter) is not Interpreter and not isinstance(interpreter, Transformer)


class Verifier:
    """Compares a run's values until the first difference.

    The user's code runs first and on the real arguments; torch's meaning runs after it on copies
    taken before, with the random state of before, and leaves nothing behind. A node for which that
    cannot be promised is left out, and the user is told once why.
    """

    def __init__(self, interpreter: Interpreter, notice: Callable[[str], None]) -> None:
        self._interpreter = interpreter
        self._notice = notice
        self._told: set[str] = set()
        self._given: Any = None
        self._inputs: dict[Node, Any] = {}

    def prepare(self, node: Node) -> Prepared | None:
        """Take copies before a node runs; None if the node is left out."""
        try:
            return self._prepare(node)
        except _UnknownError as error:
            self._leave_out(node, str(error))
        except NotCopiedError as error:
            self._leave_out(node, f"an argument cannot be copied: {error}")
        except Exception as error:
            # What is wrong with the node must come to light where the user's code runs it.
            self._leave_out(node, f"{type(error).__name__}: {error}")
        return None

    def judge(self, node: Node, prepared: Prepared, value: Any) -> ValueMismatch | None:
        """Compare what the user's code gave, and wrote, with what torch gives and writes."""
        env: Any = self._interpreter.env
        kept = env.get(node, value) if isinstance(env, dict) else value
        if kept is not value and difference(kept, value) is not None:
            return self._mismatch(
                node,
                f"stored {summarize(kept)} in env and returned {summarize(value)}; run() puts what "
                f"run_node returns in its place",
            )
        try:
            with _random_state(prepared.random), torch.no_grad(), _quiet():
                expected = prepared.compute()
        except Exception as error:
            self._leave_out(node, f"torch's own run of it raised {type(error).__name__}: {error}")
            return None
        found = difference(value, expected)
        if found is not None:
            text = f"gave {summarize(value)}; torch gives {summarize(expected)}"
            return self._mismatch(node, f"{text} ({found})")
        for original, copied in prepared.copies.pairs:
            found = difference(original, copied)
            if found is not None:
                return self._mismatch(
                    node,
                    f"left an argument as {summarize(original)}; torch leaves "
                    f"{summarize(copied)} ({found})",
                )
        return None

    def _mismatch(self, node: Node, text: str) -> ValueMismatch:
        return ValueMismatch(f"%{node.name}: {type(self._interpreter).__name__} {text}")

    def _leave_out(self, node: Node, reason: str) -> None:
        if reason not in self._told:
            self._told.add(reason)
            self._notice(f"verifyInterpreter: %{node.name} is not verified: {reason}")

    def _prepare(self, node: Node) -> Prepared:
        copies, module = Copies(), self._interpreter.module
        if node.op == "placeholder":
            expected = self._input(node)
            return Prepared(lambda: expected, copies, [])
        if node.op == "get_attr":
            return Prepared(lambda: fetch_attribute(module, str(node.target)), copies, [])
        args, kwargs = self._arguments(node)
        reason = unsafe_reason(node, module, args)
        if reason is not None:
            raise _UnknownError(reason)
        copied: Any = copies.of(args)
        compute = functools.partial(_compute, node, module, copied, copies.of(kwargs))
        return Prepared(compute, copies, _random_states())

    def _arguments(self, node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        env = self._interpreter.env
        if not isinstance(env, dict):
            raise _UnknownError("env is not a dict")
        missing = [source for source in node.all_input_nodes if source not in env]
        if missing:
            raise _UnknownError(f"%{missing[0].name} is not in env")
        args: Any = map_arg(node.args, env.__getitem__)
        kwargs: Any = map_arg(node.kwargs, env.__getitem__)
        return args, kwargs

    def _input(self, node: Node) -> Any:
        """What a placeholder is given, without taking it from the run's iterator."""
        given: Any = getattr(self._interpreter, "args_iter", None)
        if given is not self._given:
            if type(given) not in _ITERATORS:
                raise _UnknownError("the run's inputs cannot be looked at without taking them")
            self._given, self._inputs = given, self._bind(copy.copy(given))
        if node not in self._inputs:
            raise _UnknownError("it was not given")
        return self._inputs[node]

    def _bind(self, inputs: Iterator[Any]) -> dict[Node, Any]:
        """The inputs by placeholder; a value that `env` has already takes none."""
        bound: dict[Node, Any] = {}
        for node in self._interpreter.graph.nodes:
            if node.op != "placeholder" or node in self._interpreter.env:
                continue
            if str(node.target).startswith("*"):
                bound[node] = list(inputs)
                continue
            for value in (*islice(inputs, 1), *node.args[:1]):
                bound.setdefault(node, value)
        return bound


def _compute(node: Node, module: torch.nn.Module, args: Any, kwargs: Any) -> Any:
    target: Any = node.target
    if node.op == "output":
        return args[0]
    if node.op == "call_function":
        return target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], target)(*args[1:], **kwargs)
    called = module.get_submodule(target)
    # Buffers are written to, as batch norm's; the copies take it.
    buffers = {name: buffer.clone() for name, buffer in called.named_buffers()}
    return functional_call(called, buffers, args, kwargs)


def _random_states() -> list[torch.Tensor]:
    states = [torch.get_rng_state()]
    if torch.cuda._initialized:
        states += torch.cuda.get_rng_state_all()
    return states


def _set_random_states(states: list[torch.Tensor]) -> None:
    torch.set_rng_state(states[0])
    if len(states) > 1:
        torch.cuda.set_rng_state_all(states[1:])


@contextmanager
def _random_state(states: list[torch.Tensor]) -> Iterator[None]:
    """Go back to an earlier random state for a while."""
    if not states:
        yield
        return
    now = _random_states()
    _set_random_states(states)
    try:
        yield
    finally:
        _set_random_states(now)


@contextmanager
def _quiet() -> Iterator[None]:
    """Show no warning twice. The filters stay as they are: changing them forgets what was shown."""
    show = warnings.showwarning
    warnings.showwarning = lambda *args, **kwargs: None
    try:
        yield
    finally:
        warnings.showwarning = show
