"""The launch key `compile`: each torch.compile of the user's is debugged, whatever it names."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from fxdap.graphs.compile import backends
from fxdap.graphs.compile.active import ACTIVE
from fxdap.graphs.patches import Patches

BACKENDS = {"dynamo": backends.dynamo, "aot": backends.aot}


@dataclass(frozen=True)
class Substitute:
    """Stands for the backend that the user's code names, and hands over to it after the session.

    Equal for equal names, since Dynamo keeps apart what different backends compiled.
    """

    mode: str
    named: str | Callable[..., Any]

    def __call__(self, module: GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        if ACTIVE.debugger is not None:
            return BACKENDS[self.mode](module, inputs)
        named: Any = self.named
        if isinstance(named, str):
            named = torch._dynamo.lookup_backend(named)
        compiled: Callable[..., Any] = named(module, inputs)
        return compiled


def substitute_compile(patches: Patches, mode: str, tell: Callable[[str, str, int], None]) -> None:
    """Give every call of torch.compile our backend, until the patches are undone."""
    original = torch.compile

    @functools.wraps(original)
    def compile(model: Any = None, **kwargs: Any) -> Any:
        if model is None:
            return functools.partial(compile, **kwargs)
        if kwargs.get("disable"):
            return original(model, **kwargs)
        named = kwargs.pop("backend", None) or "inductor"
        kwargs.pop("mode", None)
        kwargs["options"] = _for_dynamo(kwargs.get("options"))
        caller = sys._getframe(1)
        file, line = caller.f_code.co_filename, caller.f_lineno
        tell(_said(named, mode, file, line), file, line)
        return original(model, backend=Substitute(mode, named), **kwargs)

    patches.set(torch, "compile", compile)


def _for_dynamo(options: dict[str, Any] | None) -> dict[str, Any] | None:
    """What of a compile's options is not for the backend that the user names."""
    kept = {key: value for key, value in (options or {}).items() if key == "guard_filter_fn"}
    return kept or None


def forget_substitute() -> None:
    """Dynamo finds torch's functions by identity: it may not remember ours for torch.compile."""
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    known: Any = getattr(rules, "get_torch_obj_rule_map", None)
    if hasattr(known, "cache_clear"):
        known.cache_clear()


def _said(named: Any, mode: str, file: str, line: int) -> str:
    name = named if isinstance(named, str) else getattr(named, "__name__", type(named).__name__)
    what = {"dynamo": "Dynamo's graphs", "aot": "AOT autograd's forward and backward graphs"}[mode]
    return (
        f"'compile' is {mode!r}: the torch.compile at {os.path.basename(file)}:{line} is debugged "
        f"in {what}, not run by {name}"
    )
