"""The graphs that torch.export and Dynamo make of a model, with the inputs each one gets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.fx import GraphModule

from tests.zoo.architecture import Architecture, Inputs


@dataclass(frozen=True)
class Graph:
    """A captured graph and the arguments of one call."""

    title: str
    module: GraphModule
    args: tuple[Any, ...]
    kwargs: Inputs
    model: nn.Module


@dataclass(frozen=True)
class Captured:
    """What a capture gave; `refusal` is torch's reason if it gave nothing."""

    graphs: list[Graph]
    refusal: str = ""


def by_export(architecture: Architecture) -> Captured:
    """torch.export's one graph."""
    model, inputs = architecture.make()
    try:
        with torch.no_grad():
            module = torch.export.export(model, (), inputs).module()
    except Exception as error:
        return Captured([], _reason(error))
    title = f"{architecture.name.replace('/', '.')}.export"
    return Captured([Graph(title, module, (), inputs, model)])


def by_dynamo(architecture: Architecture) -> Captured:
    """The graphs that torch.compile hands to its backend while the model runs once."""
    model, inputs = architecture.make()
    graphs: list[Graph] = []

    def collect(module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        title = f"{architecture.name.replace('/', '.')}.dynamo_{len(graphs)}"
        index = len(graphs)
        graphs.append(Graph(title, module, (), {}, model))

        def run(*args: Any) -> Any:
            if not graphs[index].args:
                graphs[index] = Graph(title, module, copied(args), {}, model)
            return module.forward(*args)

        return run

    torch._dynamo.reset()
    try:
        with torch.no_grad():
            torch.compile(model, backend=collect)(**inputs)
    except Exception as error:
        return Captured([], _reason(error))
    finally:
        torch._dynamo.reset()
    return Captured([graph for graph in graphs if graph.args])


def copied(value: Any) -> Any:
    """Tensors of their own, for a call that may write into what it is given."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (tuple, list)):
        return type(value)(map(copied, value))
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:160]


CAPTURES = {"export": by_export, "dynamo": by_dynamo}
