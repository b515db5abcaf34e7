"""Capturing one graph by Dynamo, or its forward and backward by AOT autograd, without a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from fxdap.graphs.compile.backends import AotGraphs
from fxdap.graphs.compile.graph import CompiledGraph
from fxdap.graphs.errors import TargetError

_HOW = {
    "dynamo": "torch.compile, Dynamo's graph",
    "aot": "torch.compile, AOT autograd's forward",
}


@dataclass(frozen=True)
class Compiled:
    """What torch.compile made of a model. `start` calls it, and its backward with ones.

    The first graph is the forward; `inputs` are its, parameters included.
    """

    graphs: tuple[CompiledGraph, ...]
    inputs: tuple[Any, ...]
    start: Callable[[], Any]
    how: str


class _Caught(BaseException):
    """Leaves torch.compile with what its backend was given; Dynamo lets it pass."""

    def __init__(
        self, graphs: Sequence[CompiledGraph], run: Callable[..., Any], inputs: Sequence[Any]
    ) -> None:
        super().__init__()
        self.graphs, self.run, self.inputs = tuple(graphs), run, tuple(inputs)


def capture_compiled(
    root: Callable[..., Any], args: tuple[Any, ...] | None, kwargs: dict[str, Any], mode: str
) -> Compiled:
    """Compile `root` for its inputs. TargetError tells why it makes no single graph."""
    if args is None:
        raise TargetError(
            "capture",
            mode,
            "torch.compile needs example inputs",
            "Add `example_inputs` to the file (a tuple, or a function returning one), or `inputs`",
        )
    caught = _compile(root, args, kwargs, mode)
    backward = " and backward" if len(caught.graphs) > 1 else ""

    def start() -> Any:
        result = caught.run(*caught.inputs)
        if backward:
            _backward(result)
        return result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result

    return Compiled(caught.graphs, caught.inputs, start, _HOW[mode] + backward)


def _compile(root: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str) -> _Caught:
    from torch._dynamo.exc import Unsupported

    def backend(module: GraphModule, inputs: Sequence[Any]) -> Any:
        if mode == "dynamo":
            graph = CompiledGraph(module, "", script_prefix=False)
            raise _Caught([graph], graph.unboxed(), inputs)
        aot = AotGraphs(module, "", script_prefix=False)
        run = aot.compile(inputs)
        raise _Caught(aot.graphs, run, inputs)

    try:
        compiled: Any = torch.compile(root, backend=backend, fullgraph=True, dynamic=False)
        compiled(*args, **kwargs)
    except _Caught as caught:
        return caught
    except Unsupported as error:
        raise TargetError(
            "capture",
            mode,
            f"the model is no single graph: {_first_lines(error)}",
            f"Debug a script that runs it, with `compile`: {mode!r}, for all of its graphs",
        ) from None
    raise TargetError("capture", mode, "the model computes nothing", "There is no graph to debug")


def _backward(result: Any) -> None:
    outputs = [r for r in _flat(result) if isinstance(r, torch.Tensor) and r.requires_grad]
    torch.autograd.backward(outputs, [torch.ones_like(output) for output in outputs])


def _flat(result: Any) -> Sequence[Any]:
    return result if isinstance(result, (tuple, list)) else (result,)


def _first_lines(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines()]
    place = next((line for line in reversed(lines) if line.startswith("File ")), "")
    return f"{lines[0]}, at {place}" if place else lines[0]
