"""The names that conditions, log messages, watches and the console see at a stop."""

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import lru_cache
from types import CodeType
from typing import Any

import torch
from torch.fx import Node

from fxdap.engine.frame import Frame

SPECIAL = ("node", "args", "kwargs", "env", "graph", "module", "torch", "self")


class EnvView(Mapping[Any, Any]):
    """`env`: the values computed so far, by Node or by node name."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        name = key.name if isinstance(key, Node) else key
        index = self._frame.program.by_name.get(name) if isinstance(name, str) else None
        if index is None:
            raise KeyError(f"no node {name!r} in graph {self._frame.program.name!r}")
        return self._frame.value(index)

    def __iter__(self) -> Iterator[Node]:
        nodes = self._frame.program.nodes
        return (nodes[i] for i in self._frame.computed())

    def __len__(self) -> int:
        return sum(1 for _ in self._frame.computed())


class Names(MutableMapping[str, Any]):
    """Name lookup for evaluated code: this graph's nodes, outer graphs', console variables.

    The special names come last, so a node called `node` hides the special one. Assigning to a
    node name changes that node's value; to any other name it makes a console variable.
    """

    def __init__(self, frame: Frame, scratch: dict[str, Any] | None = None) -> None:
        self.frame = frame
        self._scratch = scratch if scratch is not None else {}

    def __getitem__(self, name: str) -> Any:
        frame: Frame | None = self.frame
        while frame is not None:
            index = frame.program.by_name.get(name)
            if index is not None:
                return frame.value(index)
            frame = frame.parent
        if name in self._scratch:
            return self._scratch[name]
        return self._special(name)

    def _special(self, name: str) -> Any:
        frame = self.frame
        if name == "env":
            return EnvView(frame)
        if name == "node":
            return frame.node
        if name == "args":
            return tuple(frame.argument(a) for a in frame.node.args)
        if name == "kwargs":
            return {k: frame.argument(v) for k, v in frame.node.kwargs.items()}
        if name == "graph":
            return frame.program.graph
        if name == "module":
            return frame.program.module
        if name == "torch":
            return torch
        if name == "self" and frame.interpreter is not None:
            return frame.interpreter
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        index = self.frame.program.by_name.get(name)
        if index is None:
            self._scratch[name] = value
        else:
            self.frame.set_value(index, value)

    def __delitem__(self, name: str) -> None:
        del self._scratch[name]

    def __iter__(self) -> Iterator[str]:
        nodes = self.frame.program.nodes
        yield from self._scratch
        yield from (nodes[i].name for i in self.frame.computed())
        yield from SPECIAL

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Globals(dict[str, Any]):
    """Globals whose missing names come from `Names`, so that lambdas and comprehensions see them.

    CPython looks globals up with `__missing__` only in LOAD_GLOBAL; LOAD_NAME goes through the
    locals mapping, so evaluated code is given both.
    """

    def __init__(self, names: Names) -> None:
        super().__init__(__builtins__=builtins)
        self._names = names

    def __missing__(self, name: str) -> Any:
        return self._names[name]


@lru_cache(maxsize=512)
def compile_expression(text: str) -> CodeType:
    """Compile one expression; SyntaxError if it is none."""
    return compile(text.strip(), "<fxdap>", "eval", dont_inherit=True)


@lru_cache(maxsize=512)
def reads_own_value(text: str, name: str) -> bool:
    """Whether a condition on node `name` needs that node's own value."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return any(
        (isinstance(n, ast.Name) and n.id == name)
        or (isinstance(n, ast.Subscript) and ast.unparse(n) in ("env[node]", f"env['{name}']"))
        for n in ast.walk(tree)
    )


@lru_cache(maxsize=512)
def _calls(text: str) -> bool:
    """Whether an expression calls something, which may write into anything."""
    tree = ast.parse(text.strip(), mode="eval")
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))


def evaluate(text: str, frame: Frame, scratch: dict[str, Any] | None = None) -> Any:
    """Return the value of an expression at the frame's position. Raises what it raises."""
    names, code = Names(frame, scratch), compile_expression(text)
    if _calls(text):
        frame.thread.ran_code = True
    return _run(eval, code, text, names)


def execute_statements(text: str, frame: Frame, scratch: dict[str, Any]) -> None:
    """Run Python statements typed in the console; new names stay in `scratch`."""
    names = Names(frame, scratch)
    frame.thread.ran_code = True
    _run(exec, compile(text, "<fxdap>", "exec", dont_inherit=True), text, names)


def _run(how: Callable[..., Any], code: CodeType, text: str, names: Names) -> Any:
    thread = names.frame.thread
    thread.evaluating += 1
    try:
        return how(code, _Globals(names), names)
    except AttributeError as error:
        explained = _about_body(text, names.frame)
        if explained is None:
            raise
        raise AttributeError(explained) from error
    finally:
        thread.evaluating -= 1


def _about_body(text: str, frame: Frame) -> str | None:
    """What to say of `module.x` inside a body, whose module has no x and bears no useful name."""
    program = frame.program
    if program.parent is None:
        return None
    wanted = {
        each.attr
        for each in ast.walk(ast.parse(text.strip()))
        if isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == "module"
    }
    missing = next((name for name in sorted(wanted) if not hasattr(program.module, name)), None)
    if missing is None:
        return None
    outer = program.root.name
    return (
        f"'module' is the body {program.path!r} of {outer} here, and that has no {missing!r}; "
        f"choose the frame of {outer} in the call stack to ask its module"
    )
