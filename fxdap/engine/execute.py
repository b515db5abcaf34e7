"""Running one node over the registers, with the same meaning as the generated code."""

from typing import Any

import torch
from torch.fx import Node

from fxdap.engine.program import Program


def fetch(value: Any, program: Program, registers: list[Any]) -> Any:
    """Return a node's argument with every Node in it replaced by its value."""
    if isinstance(value, Node):
        return registers[program.index[value]]
    if isinstance(value, tuple):
        items = [fetch(v, program, registers) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else _plain_tuple(value, items)
    if isinstance(value, list):
        return [fetch(v, program, registers) for v in value]
    if isinstance(value, dict):
        return {k: fetch(v, program, registers) for k, v in value.items()}
    if isinstance(value, slice):
        return slice(
            fetch(value.start, program, registers),
            fetch(value.stop, program, registers),
            fetch(value.step, program, registers),
        )
    return value


def _plain_tuple(value: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    return tuple(items) if type(value) is tuple else value


def fetch_attribute(module: torch.nn.Module, target: str) -> Any:
    """Return `module.<target>`; AttributeError names the part that is missing."""
    value: Any = module
    for atom in target.split("."):
        value = getattr(value, atom)
    return value


def execute(program: Program, index: int, registers: list[Any]) -> Any:
    """Run node `index` and return its value; placeholders are already in their registers."""
    node = program.steps[index]
    if node.op == "placeholder":
        return registers[index]
    if node.op == "get_attr":
        return fetch_attribute(program.module, str(node.target))
    args = [fetch(a, program, registers) for a in node.args]
    if node.op == "output":
        return args[0]
    kwargs = {k: fetch(v, program, registers) for k, v in node.kwargs.items()}
    target: Any = node.target
    if node.op == "call_function":
        return target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], target)(*args[1:], **kwargs)
    return fetch_attribute(program.module, target)(*args, **kwargs)
