"""The module behind the graph: missing or wrong parameters and buffers, a stale `submodules`."""

import re
from typing import Any

import torch
from torch.fx import Node

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence
from fxdap.graphs.diagnosis.names import near_target
from fxdap.graphs.naming import graph_title
from fxdap.view.type_text import tensor_type

_ABOUT_SHAPES = re.compile(
    r"size|shape|dimension|mat1|broadcast|numel|device|dtype|same type|scalar type", re.IGNORECASE
)
_RECORDED = ("val", "example_value", "tensor_meta")


def check(evidence: Evidence) -> Diagnosis | None:
    """Try each of them."""
    return (
        _stale_submodules(evidence) or _missing_target(evidence) or _differs_from_record(evidence)
    )


def _missing_target(evidence: Evidence) -> Diagnosis | None:
    node, module = evidence.node, evidence.module
    if node is None or module is None or not _failed_to_fetch(evidence, node):
        return None
    target = str(node.target)
    return Diagnosis(
        f"{evidence.place(node)} needs {target!r}, which {graph_title(module)} does not have",
        near_target(module, target),
        node.name,
    )


def _failed_to_fetch(evidence: Evidence, node: Node) -> bool:
    """Whether the error is about the target, and the module really does not have it."""
    error, module = evidence.error, evidence.module
    if node.op not in ("get_attr", "call_module") or module is None:
        return False
    atoms = str(node.target).split(".")
    about_it = isinstance(error, AttributeError) and error.name in atoms
    if not about_it and not str(error).startswith("Node referenced nonexistent target"):
        return False
    value: Any = module
    for atom in atoms:
        if not hasattr(value, atom):
            return True
        value = getattr(value, atom)
    return False


def _stale_submodules(evidence: Evidence) -> Diagnosis | None:
    error, last, interpreter = evidence.error, evidence.last, evidence.interpreter
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(key, str) or last is None or interpreter is None:
        return None
    # torch's run() appends what it was executing to the key.
    key = key.partition("\n\nWhile executing ")[0]
    if "submodules[" not in last.source or key in interpreter.submodules:
        return None
    if key in dict(interpreter.module.named_modules()):
        return Diagnosis(
            f"interpreter.submodules was taken when the Interpreter was made, and {key!r} was "
            f"added to the module later",
            "make the Interpreter after changing the module, or use self.fetch_attr(target)",
        )
    return Diagnosis(
        f"interpreter.submodules has no {key!r}: the module has none either",
        near_target(interpreter.module, key),
    )


def _differs_from_record(evidence: Evidence) -> Diagnosis | None:
    """A parameter or input that is not what the graph was made for, in an error about that."""
    node = evidence.node
    if node is None or not _ABOUT_SHAPES.search(str(evidence.error)):
        return None
    for source in node.all_input_nodes:
        if source.op not in ("get_attr", "placeholder"):
            continue
        value = evidence.value(source)
        recorded = next((source.meta[k] for k in _RECORDED if k in source.meta), None)
        if isinstance(value, torch.Tensor) and _differs(value, recorded):
            what = "input" if source.op == "placeholder" else "parameter or buffer"
            return Diagnosis(
                f"{what} %{source.name} is {_told(value)}, and the graph was made for "
                f"{_told(recorded)}",
                f"give {source.target!s} as it was when the graph was made, or make it again",
                source.name,
            )
    return None


def _differs(value: torch.Tensor, recorded: Any) -> bool:
    shape = getattr(recorded, "shape", None)
    if shape is None or not all(isinstance(size, int) for size in shape):
        return False
    if tuple(value.shape) != tuple(shape) or value.dtype != recorded.dtype:
        return True
    device = getattr(recorded, "device", None)
    return device is not None and device.type not in ("meta", value.device.type)


def _told(value: Any) -> str:
    device = getattr(value, "device", None)
    return f"{tensor_type(value)} {device}" if device is not None else tensor_type(value)
