"""Telling what the numbered inputs and outputs of AOT autograd's graphs are."""

from collections.abc import Sequence
from typing import Any

from torch.fx import GraphModule

from fxdap.view.input_names import input_name, remember_input, remember_outputs


def names_of(module: GraphModule) -> list[str]:
    """What the placeholders of Dynamo's graph are to the user, in order."""
    inputs = (node for node in module.graph.nodes if node.op == "placeholder")
    return [input_name(node) or node.name for node in inputs]


def name_inputs_and_outputs(module: GraphModule, names: Sequence[str]) -> None:
    """Name those of a forward or backward graph after the inputs of Dynamo's graph."""
    for node in module.graph.nodes:
        if node.op == "placeholder":
            name = _described(node.meta.get("desc"), names)
            if name is not None:
                remember_input(node, name)
        elif node.op == "output" and isinstance(node.meta.get("desc"), (list, tuple)):
            remember_outputs(node, [_described_output(d, names) for d in node.meta["desc"]])


def _described(descriptor: Any, names: Sequence[str]) -> str | None:
    """The name for one of torch's descriptors, by its class; other classes tell nothing."""
    index = getattr(descriptor, "idx", None)
    kind = type(descriptor).__name__
    if kind == "PlainAOTInput" and isinstance(index, int) and index < len(names):
        return names[index]
    if kind == "TangentAOTInput":
        output = getattr(descriptor.output, "idx", None)
        return f"gradient of output {output}" if output is not None else None
    return None


def _described_output(descriptor: Any, names: Sequence[str]) -> str:
    kind, index = type(descriptor).__name__, getattr(descriptor, "idx", None)
    if kind == "GradAOTOutput":
        of = _described(descriptor.grad_of, names)
        return f"gradient of {of}" if of is not None else "gradient"
    if kind == "PlainAOTOutput":
        return f"output {index}"
    return "saved for the backward" if kind.startswith("SavedForBackwards") else "result"
