"""The `graph` launch key: one graph with its inputs, from a file, a module or a `.pt2`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule

from fxdap.graphs.capture import capture, first_line, program_module
from fxdap.graphs.compile.capture import Compiled, capture_compiled
from fxdap.graphs.errors import TargetError
from fxdap.graphs.resolve import is_factory, load_attribute

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Target:
    """A graph to debug. `how` says how it was captured; `inputs` is None when none are known."""

    module: GraphModule
    name: str
    how: str
    inputs: Inputs | None
    spec: str
    compiled: Compiled | None = None
    """What torch.compile made, if that is how it was captured."""

    @property
    def graphs(self) -> dict[str, GraphModule]:
        """The graphs that run, by name; more than one if there is a backward."""
        if self.compiled is None:
            return {self.name: self.module}
        return {graph.title: graph.module for graph in self.compiled.graphs}

    def run(self) -> Any:
        """Call it with its inputs. TargetError says what to add when there are none."""
        if self.compiled is not None:
            return self.compiled.start()
        args, kwargs = self.require_inputs()
        return self.module(*args, **kwargs)

    def require_inputs(self) -> Inputs:
        """Return the inputs; TargetError says what to add when there are none."""
        if self.inputs is not None:
            return self.inputs
        if not any(node.op == "placeholder" for node in self.module.graph.nodes):
            return (), {}
        raise TargetError(
            "graph",
            self.spec,
            "no inputs are known for it",
            "Add `example_inputs` to the file (a tuple, or a function returning one), "
            "set `inputs` to file.py:attr, or let the factory return (module, inputs)",
        )


def load_target(spec: str, inputs: str | None = None, capture: str = "auto") -> Target:
    """Load what `graph` names and capture it. TargetError explains what is wrong with a key."""
    if spec.endswith(".pt2"):
        return _load_exported(spec, inputs, capture)
    value, module = load_attribute(spec, "graph")
    value, made_inputs = _construct(value, spec)
    known = _inputs_of(inputs, made_inputs, module)
    return _target(value, _name_of(spec), known, capture, spec)


def _target(value: Any, name: str, inputs: Inputs | None, mode: str, spec: str) -> Target:
    if mode in ("dynamo", "aot"):
        return _compiled_target(value, name, inputs, mode, spec)
    if isinstance(value, ExportedProgram):
        inputs = inputs if inputs is not None else _sample_inputs(value)
        return Target(program_module(value), name, "ExportedProgram", inputs, spec)
    if isinstance(value, GraphModule):
        return Target(value, name, "GraphModule", inputs, spec)
    if not isinstance(value, torch.nn.Module) and not callable(value):
        raise TargetError(
            "graph",
            spec,
            f"is of type {type(value).__name__}",
            "It must be a module, function, GraphModule, ExportedProgram, or a factory of one",
        )
    args, kwargs = inputs if inputs is not None else (None, {})
    captured = capture(value, args, kwargs, mode)
    return Target(captured.module, name, captured.how, inputs, spec)


def _compiled_target(value: Any, name: str, inputs: Inputs | None, mode: str, spec: str) -> Target:
    if isinstance(value, ExportedProgram):
        inputs = inputs if inputs is not None else _sample_inputs(value)
        value = program_module(value)
    args, kwargs = inputs if inputs is not None else (None, {})
    compiled = capture_compiled(value, args, kwargs, mode)
    for graph in compiled.graphs:
        graph.title = f"{name}{graph.title}"
    given = (compiled.inputs, dict[str, Any]())
    return Target(compiled.graphs[0].module, name, compiled.how, given, spec, compiled)


def _load_exported(spec: str, inputs: str | None, mode: str) -> Target:
    path = Path(spec)
    if not path.is_file():
        raise TargetError("graph", spec, "no such file", f"Relative paths start at {os.getcwd()}")
    try:
        program = torch.export.load(path)
    except Exception as error:
        raise TargetError(
            "graph",
            spec,
            f"torch.export cannot load it: {first_line(error)}",
            _loading_remedy(error),
        ) from error
    given = _inputs_of(inputs, None, None)
    return _target(program, path.stem, given, mode, spec)


def _loading_remedy(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return (
            "Its inputs are of classes of your own: set graph to file.py:function, of a file that "
            "imports them and a function that returns torch.export.load(...)"
        )
    return "Save it with torch.export.save of a compatible torch version"


def _construct(value: Any, spec: str) -> tuple[Any, Inputs | None]:
    """Call a factory or module class; split `(module, args[, kwargs])`."""
    if is_factory(value):
        value = _call_factory(value)
    elif isinstance(value, type):
        raise TargetError(
            "graph",
            spec,
            f"class {value.__name__} needs constructor arguments",
            "Name an instance, or a zero-argument function that makes one",
        )
    if isinstance(value, tuple) and 2 <= len(value) <= 3 and _is_graph_like(value[0]):
        return value[0], _as_inputs(value[1:] if len(value) == 3 else value[1])
    return value, None


def _call_factory(value: Callable[[], Any]) -> Any:
    made = value()
    # A function of no required arguments may be the model itself rather than a factory.
    first = made[0] if isinstance(made, tuple) and made else made
    return made if _is_graph_like(first) else value


def _is_graph_like(value: Any) -> bool:
    return isinstance(value, (torch.nn.Module, ExportedProgram)) or (
        callable(value) and not isinstance(value, type)
    )


def _inputs_of(spec: str | None, made: Inputs | None, module: ModuleType | None) -> Inputs | None:
    if spec is not None:
        value, _ = load_attribute(spec, "inputs")
        return _as_inputs(value() if is_factory(value) else value)
    if made is not None:
        return made
    if module is not None and hasattr(module, "example_inputs"):
        value = module.example_inputs
        return _as_inputs(value() if is_factory(value) else value)
    return None


def _as_inputs(value: Any) -> Inputs:
    """Accept one value, a tuple or list of args, `(args, kwargs)`, or a dict of kwargs."""
    if isinstance(value, dict):
        return (), value
    if not isinstance(value, (tuple, list)):
        return (value,), {}
    pair = len(value) == 2 and isinstance(value[0], (tuple, list)) and isinstance(value[1], dict)
    if pair:
        return tuple(value[0]), dict(value[1])
    return tuple(value), {}


def _sample_inputs(program: ExportedProgram) -> Inputs | None:
    example = program.example_inputs
    if example is None:
        return None
    args, kwargs = example
    return tuple(args), dict(kwargs)


def _name_of(spec: str) -> str:
    """`mlp.py:MLP` is MLP; `bert.py:model` is bert.model, so that models of two files differ."""
    place, _, attribute = spec.rpartition(":")
    stem = Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
    return attribute if attribute.lower() == stem.lower() else f"{stem}.{attribute}"
