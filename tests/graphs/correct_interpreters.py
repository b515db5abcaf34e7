"""Interpreters as people write them, in many styles, all correct: nothing may be said of them."""

import copy
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

import fxdap


class Model(nn.Module):
    scale: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.linear = nn.Linear(3, 3)
        self.linear.weight.data = torch.rand(3, 3, generator=generator)
        self.linear.bias.data = torch.rand(3, generator=generator)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.linear(x)) * self.scale
        return (hidden + y).tanh().sum(dim=-1)


class Recording(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.node_values: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        self.node_values[n] = value = super().run_node(n)
        return value


class ByName(Recording):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        print(f"{n.name}: {type(value).__name__}")
        return value


class Counting(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.counts: Counter[str] = Counter()

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        self.counts[getattr(target, "__name__", str(target))] += 1
        return super().call_function(target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        self.counts[target] += 1
        return super().call_method(target, args, kwargs)


class EveryOpcode(fx.Interpreter):
    def _said(self, op: str, target: Any) -> None:
        print(op, getattr(target, "__name__", target))

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        self._said("placeholder", target)
        return super().placeholder(target, args, kwargs)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        self._said("get_attr", target)
        return super().get_attr(target, args, kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        self._said("call_module", target)
        return super().call_module(target, args, kwargs)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        self._said("output", target)
        return super().output(target, args, kwargs)


class SwapReluForSigmoid(fx.Interpreter):
    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is torch.relu:
            return torch.sigmoid(*args, **kwargs)
        return super().call_function(target, args, kwargs)


class OwnDispatch(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return {
            "placeholder": self.placeholder,
            "get_attr": self.get_attr,
            "call_function": self.call_function,
            "call_method": self.call_method,
            "call_module": self.call_module,
            "output": self.output,
        }[n.op](n.target, args, kwargs)


class OwnRun(fx.Interpreter):
    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.env, self.args_iter = {}, iter(args)
        for node in self.graph.nodes:
            self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
        return None


class Lazily(fx.Interpreter):
    """Runs what the output needs, depth first: not in the graph's order."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        inputs = [n for n in self.graph.nodes if n.op == "placeholder"]
        self.env = dict(zip(inputs, args, strict=True))
        return self.value(next(iter(reversed(self.graph.nodes))))

    def value(self, node: fx.Node) -> Any:
        for source in node.all_input_nodes:
            if source not in self.env:
                self.value(source)
        self.env[node] = self.run_node(node)
        return self.env[node]


class Memoizing(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.memo: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        if n not in self.memo:
            self.memo[n] = super().run_node(n)
        return self.memo[n]

    def run(self, *args: Any, **kwargs: Any) -> Any:
        super().run(*args, **kwargs)
        return super().run(*args, **kwargs)


class Freezing(fx.Interpreter):
    def fetch_attr(self, target: str) -> Any:
        value = super().fetch_attr(target)
        return value.detach().clone() if isinstance(value, torch.Tensor) else value


class Casting(fx.Interpreter):
    def fetch_args_kwargs_from_env(self, n: fx.Node) -> Any:
        args, kwargs = super().fetch_args_kwargs_from_env(n)
        cast = [a.float() if isinstance(a, torch.Tensor) else a for a in args]
        return tuple(cast), dict(kwargs)


class Mapping(fx.Interpreter):
    def map_nodes_to_values(self, args: Any, n: fx.Node) -> Any:
        print("look up for", n)
        return super().map_nodes_to_values(args, n)


class MappingByHand(fx.Interpreter):
    def map_nodes_to_values(self, args: Any, n: fx.Node) -> Any:
        return fx.node.map_arg(args, lambda a: self.env[a])


class Retrying(fx.Interpreter):
    """Handles an error of a node itself."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        try:
            if target is torch.relu:
                raise KeyError("relu")
            return super().call_function(target, args, kwargs)
        except KeyError as error:
            print("again after", error)
            return target(*args, **kwargs)


class Forgiving(fx.Interpreter):
    """Handles an error that left a node."""

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        raise ValueError(f"no methods: {target}")

    def run_node(self, n: fx.Node) -> Any:
        try:
            return super().run_node(n)
        except ValueError as error:
            print(error)
            return torch.ones(2, 3)


class Raising(fx.Interpreter):
    """Raises an error of its own with a key that is a node's name."""

    def run_node(self, n: fx.Node) -> Any:
        table: dict[str, int] = {}
        if n.op == "call_module":
            table[n.name]
        return super().run_node(n)


class RaisingNode(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        if n.op == "output":
            raise RuntimeError(f"Node {n} refused; None of it is wrong in size")
        return super().run_node(n)


class Asserting(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        assert not (isinstance(value, torch.Tensor) and value.ndim == 1), (
            "Expected args to be tuple"
        )
        return value


class MissingAttribute(fx.Interpreter):
    """A typing error in an attribute of its own, of which Python says enough."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.thresholds = {"relu": 1.0}

    def run_node(self, n: fx.Node) -> Any:
        return self.treshold[n.name]  # type: ignore[attr-defined]


class Stopping(fx.Interpreter):
    class Done(Exception):
        pass

    def run_node(self, n: fx.Node) -> Any:
        if n.name == "add":
            raise self.Done
        return super().run_node(n)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except self.Done:
            return len(self.env)


class Warning_(fx.Interpreter):
    def run_node(self, n: fx.Node) -> Any:
        warnings.warn(f"running {n.name}", UserWarning, stacklevel=1)
        return super().run_node(n)


class Timing(fx.Interpreter):
    @contextmanager
    def _set_current_node(self, node: fx.Node) -> Any:
        print("begin", node)
        with super()._set_current_node(node):
            yield
        print("end", node)


class Quiet:
    def run_node(self, n: fx.Node) -> Any:
        with torch.no_grad():
            return super().run_node(n)  # type: ignore[misc]


class Mixed(Quiet, Recording):
    pass


@dataclass(eq=False)
class Data(fx.Interpreter):
    module: Any
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        fx.Interpreter.__init__(self, self.module)

    def run_node(self, n: fx.Node) -> Any:
        self.names.append(n.name)
        return super().run_node(n)


class Grouping(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.groups: defaultdict[str, list[str]] = defaultdict(list)

    def run_node(self, n: fx.Node) -> Any:
        self.groups[n.op].append(n.name)
        return super().run_node(n)


class Nested(fx.Interpreter):
    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        inner = fx.symbolic_trace(nn.Sequential(self.fetch_attr(target)))
        return Recording(inner).run(*args, **kwargs)


class Shapes(ShapeProp):
    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        print(n, n.meta.get("tensor_meta") is not None)
        return value


class ViaSubmodules(fx.Interpreter):
    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.submodules[target](*args, **kwargs)


class ReturnsNone(fx.Interpreter):
    """A value of None is meant here; the path without a value is never taken."""

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target == "absent":
            return None
        return super().call_module(target, args, kwargs)


class HookedTwice(fxdap.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seen: list[str] = []
        self.register_node_pre_hook(lambda n, args, kwargs: self.seen.append(f"before {n}"))
        self.register_node_post_hook(lambda n, value: self.seen.append(f"after {n}"))


class Storing(fxdap.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.kept: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        self.map_nodes_to_values(n, value)
        return value

    def map_nodes_to_values(self, node: fx.Node, value: Any) -> Any:  # type: ignore[override]
        self.kept[node.name] = value


class Copying(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(copy.deepcopy(module))


class InPlace(fx.Interpreter):
    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is torch.relu:
            return args[0].detach().clone().relu_()
        return super().call_function(target, args, kwargs)


Runner = Callable[[type[fx.Interpreter], fx.GraphModule, tuple[Any, ...]], Any]


def simply(cls: Any, module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    interpreter = cls(module)
    return interpreter, interpreter.run(*inputs)


def keeping(cls: Any, module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    interpreter = cls(module, garbage_collect_values=False)
    return interpreter, interpreter.run(*inputs)


def boxed(cls: Any, module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    interpreter = cls(module)
    return interpreter, interpreter.boxed_run(list(inputs))


def partial(cls: Any, module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    interpreter = cls(module, False)
    first = next(iter(module.graph.nodes))
    return interpreter, interpreter.run(inputs[1], initial_env={first: inputs[0]})


def own_graph(cls: Any, module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    interpreter = cls(nn.Module(), graph=fx.symbolic_trace(lambda a, b: a @ b.T).graph)
    return interpreter, interpreter.run(*inputs)


def own_order(cls: Any, module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    """A graph out of order is right for a run that has an order of its own."""
    relu = next(n for n in module.graph.nodes if n.name == "relu")
    with module.graph.inserting_after(relu):
        late = module.graph.call_function(torch.mul, (relu.all_input_nodes[0], 2))
    relu.args = (late,)
    return simply(cls, module, inputs)


CORRECT: list[tuple[type[Any], Runner]] = [
    *((cls, simply) for cls in (Recording, ByName, Counting, EveryOpcode, SwapReluForSigmoid)),
    *((cls, simply) for cls in (OwnDispatch, OwnRun, Lazily, Memoizing, Freezing, Casting)),
    *((cls, simply) for cls in (Mapping, MappingByHand, Retrying, Stopping, Warning_, Timing)),
    *((cls, simply) for cls in (Mixed, Data, Grouping, Nested, Shapes, ViaSubmodules)),
    *((cls, simply) for cls in (ReturnsNone, HookedTwice, Storing, Copying, InPlace)),
    (Forgiving, simply),
    (fxdap.Interpreter, keeping),
    (fx.Interpreter, keeping),
    (EveryOpcode, keeping),
    (Mapping, boxed),
    (OwnDispatch, partial),
    (EveryOpcode, own_graph),
    (Lazily, own_order),
]
FAILING: list[tuple[type[Any], Runner]] = [
    *((cls, simply) for cls in (Raising, RaisingNode, Asserting, MissingAttribute)),
]
"""Their errors are their own: Python's text says all there is to say."""
