"""The Node and Meta scopes: the current node's arguments by parameter name, and its metadata."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

import torch
from torch._ops import OpOverloadPacket
from torch.fx import Node

from fxdap.engine.frame import Frame, ValueUnavailableError
from fxdap.server.changes import change_note, changed_by
from fxdap.server.places import definition_place, listing_place, source_place
from fxdap.server.variables_tree import Group, Item
from fxdap.view.guards import guard_conditions, is_guard
from fxdap.view.input_names import output_names
from fxdap.view.node_text import format_argument, target_name
from fxdap.view.symbols import left_open


def node_items(frame: Frame) -> list[Item]:
    """The node's target, then its arguments."""
    node = frame.node
    items = [_target_item(frame)]
    if is_guard(node):
        items.append(Item("checks", guard_conditions(frame.program.module)))
    items += argument_items(frame)
    return [*items, *_users_items(frame)]


def _target_item(frame: Frame) -> Item:
    """What the node calls; leads to its definition where that is Python."""
    node = frame.node
    place = definition_place(frame.program, frame.position)
    return Item("target", text=target_name(node), type=node.op, origin=place)


def _users_items(frame: Frame) -> list[Item]:
    """The nodes that read this one's value; each leads to its line."""
    program = frame.program
    users = sorted(program.index[user] for user in frame.node.users)
    if not users:
        return []

    def compute() -> list[Item]:
        return [
            Item(
                f"%{program.nodes[index].name}",
                text=target_name(program.nodes[index]),
                declared=listing_place(program, index),
            )
            for index in users
        ]

    text = f"{len(users)} node{'s' if len(users) != 1 else ''}"
    return [Item("users", branch=Group(compute), text=text)]


def argument_items(frame: Frame) -> list[Item]:
    """One item per argument: its value, and after the name the node that produced it."""
    node = frame.node
    if node.op in ("placeholder", "get_attr"):
        return []
    results = _named_results(node)
    if results:
        return [_argument(frame, name, argument) for name, argument in results]
    names = parameter_names(frame, len(node.args))
    pairs = [*zip(names, node.args, strict=True), *node.kwargs.items()]
    return [_argument(frame, name, argument) for name, argument in pairs]


def _named_results(node: Node) -> list[tuple[str, Any]]:
    """What a compiled graph returns, by what each item is to the user."""
    names = output_names(node) if node.op == "output" else ()
    items = node.args[0] if names else None
    if not isinstance(items, (list, tuple)) or len(items) != len(names):
        return []
    return [pair for pair in zip(names, items, strict=True) if pair[1] is not None]


def _argument(frame: Frame, name: str, argument: Any) -> Item:
    producer = f" ← {format_argument(argument)}" if isinstance(argument, Node) else ""
    try:
        value = frame.argument(argument)
    except (ValueUnavailableError, KeyError) as error:
        return Item(name + producer, text=str(error))
    if not isinstance(argument, Node):
        return Item(name + producer, value)
    index = frame.program.index[argument]
    return Item(
        name + producer,
        value,
        accessor=argument.name,
        note=change_note(frame.program, changed_by(frame), index),
        declared=listing_place(frame.program, index),
        origin=source_place(argument),
        left_open=left_open(argument),
    )


def parameter_names(frame: Frame, count: int) -> list[str]:
    """Names of the first `count` positional parameters of what the node calls."""
    node = frame.node
    known = list(_names_of(_callee(frame), node.op == "call_method"))
    if node.op == "output":
        known = ["result"]
    elif node.op == "call_method" and not known:
        known = ["self"]
    rest = [f"args[{i}]" for i in range(len(known), count)]
    return [*known, *rest][:count]


def _callee(frame: Frame) -> Any:
    node = frame.node
    if node.op == "call_function":
        return _only_overload(node.target)
    if node.op == "call_method":
        return getattr(torch.Tensor, str(node.target), None)
    if node.op == "call_module":
        module: Any = frame.program.module
        for atom in str(node.target).split("."):
            module = getattr(module, atom, None)
        return getattr(type(module), "forward", None) and module.forward
    return None


def _only_overload(target: Any) -> Any:
    """An operator that was named without its overload, such as `torch.ops.mine.clip`."""
    if not isinstance(target, OpOverloadPacket):
        return target
    names = target._overload_names
    return getattr(target, names[0] or "default") if len(names) == 1 else target


def _names_of(callee: Any, method: bool) -> tuple[str, ...]:
    try:
        return _signature_names(callee, method)
    except TypeError:
        return ()


@lru_cache(maxsize=1024)
def _signature_names(callee: Any, method: bool) -> tuple[str, ...]:
    schema = getattr(callee, "_schema", None)
    if schema is not None:
        return tuple(argument.name for argument in schema.arguments)
    try:
        parameters = inspect.signature(callee).parameters.values()
    except (TypeError, ValueError):
        return ()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in parameters if p.kind in plain)


def meta_items(frame: Frame) -> list[Item]:
    """The node's recorded metadata."""
    return [Item(str(key), value) for key, value in frame.node.meta.items()]
