"""Generated code means what the module's own forward means, for every form of argument."""

import math
import operator
import random
import traceback
from collections import namedtuple
from typing import Any, NamedTuple

import pytest
import torch
from torch import fx, nn

from tests.engine.driver import Driver, assert_same


class Pair(NamedTuple):
    left: Any
    right: Any


Legacy = namedtuple("Legacy", ["a"])


def echo(*args: Any, **kwargs: Any) -> Any:
    """Returns its arguments, so that a test sees exactly what the code passed."""
    return args, kwargs


fx.wrap("echo")


def graph_of(build: Any, root: nn.Module | None = None) -> fx.GraphModule:
    """A module whose graph `build(graph, x)` fills; what it returns is the output."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(build(graph, x))
    return fx.GraphModule(root or nn.Module(), graph)


def all_runs(module: fx.GraphModule, *inputs: Any, **kwargs: Any) -> list[Any]:
    """The results of a stepped, a walked and two compiled runs."""
    driver = Driver(entry=True)
    driver.forever = "over"
    with driver:
        results = [module(*inputs, **kwargs)]
    with Driver(keep_values=False):
        results += [module(*inputs, **kwargs) for _ in range(2)]
    with Driver():
        results += [module(*inputs, **kwargs) for _ in range(2)]
    return results


def check(module: fx.GraphModule, *inputs: Any, **kwargs: Any) -> None:
    plain = module(*inputs, **kwargs)
    for result in all_runs(module, *inputs, **kwargs):
        assert_same(result, plain)


X = torch.linspace(-2, 2, 24).reshape(2, 3, 4)

ARGUMENTS = {
    "a full slice": lambda x: (slice(None),),
    "slices of every kind": lambda x: (slice(1, None), slice(None, -1), slice(0, 4, 2)),
    "a slice with a node in it": lambda x: (slice(x, None, x),),
    "Ellipsis": lambda x: (..., (..., 0), [..., None]),
    "nan": lambda x: (float("nan"),),
    "infinities": lambda x: (float("inf"), float("-inf")),
    "negative zero": lambda x: (-0.0, 0.0),
    "negative numbers": lambda x: (-1, -2.5, -(10**30)),
    "very small and large floats": lambda x: (5e-324, 1.7976931348623157e308, 1e16),
    "complex numbers": lambda x: (1 + 2j, complex(-0.5, -2.0)),
    "booleans and None": lambda x: (True, False, None),
    "strings with quotes and newlines": lambda x: ("'\"\n\\{}", "\u00fc\u2028\0", ""),
    "dtypes": lambda x: (torch.float32, torch.bfloat16, torch.bool),
    "devices and layouts": lambda x: (torch.device("cpu"), torch.strided, torch.channels_last),
    "torch.Size": lambda x: (torch.Size([1, 2]), torch.Size([])),
    "empty containers": lambda x: ((), [], {}),
    "one-tuples": lambda x: ((x,), (1,), ((x,),)),
    "a namedtuple": lambda x: (Pair(x, [1, x]), Legacy(-1.0)),
    "nested dicts": lambda x: ({"a": {"b": (x, {"c": [x, -1]})}, "d e": x},),
    "a range": lambda x: (range(3),),
    "a list of lists": lambda x: ([[x, 1], [x], []],),
}


@pytest.mark.parametrize("form", ARGUMENTS)
def test_a_function_gets_the_arguments_that_the_module_passes(form):
    module = graph_of(lambda graph, x: graph.call_function(echo, ARGUMENTS[form](x)))
    args, kwargs = module(X)
    for result in all_runs(module, X):
        assert repr(result) == repr((args, kwargs))
        assert_same(result, (args, kwargs))


def test_the_sign_of_zero_survives():
    module = graph_of(lambda graph, x: graph.call_function(echo, (-0.0,)))
    for (value,), _ in all_runs(module, X):
        assert math.copysign(1.0, value) == -1.0


def program_runs(root: nn.Module, graph: fx.Graph, *inputs: Any) -> list[Any]:
    """Results of runs of a graph that torch itself cannot compile."""
    debugger = Driver().debugger
    program = debugger.program_for(root, graph, None, "graph")
    return [debugger.run_program(program, inputs) for _ in range(3)]


KEYWORDS = [
    {"a": 1},
    {"not an identifier": 2},
    {"a": -1, "b.c": 2},
    {"self": 1, "R": 2, "m": 3, "trap": 4},
    {"in": 1, "None": 2},
]


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_keyword_arguments_keep_their_names(keywords):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(echo, (x,), keywords))
    for args, kwargs in program_runs(nn.Module(), graph, X):
        assert args == (X,)
        assert kwargs == keywords


def test_python_keywords_may_name_attributes():
    root, inner = nn.Module(), nn.Module()
    weight = nn.Parameter(torch.ones(2))
    setattr(inner, "lambda", weight)
    setattr(root, "class", inner)
    graph = fx.Graph()
    graph.output(graph.create_node("get_attr", "class.lambda", name="value"))
    for value in program_runs(root, graph):
        assert value is weight


class Odd(nn.Module):
    """Attribute names that are no identifiers, at several depths."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.ParameterList([torch.ones(3)]), nn.Linear(4, 4)])
        self.table = nn.ParameterDict({"a-b": torch.full((1,), 7.0), "2": torch.zeros(1)})


def test_attribute_paths_with_digits_and_dashes_are_fetched():
    root = Odd()
    graph = fx.Graph()
    x = graph.placeholder("x")
    paths = ["blocks.0.0", "table.a-b", "table.2", "blocks.1.weight"]
    values = [graph.create_node("get_attr", path) for path in paths]
    values.append(graph.call_module("blocks.1", (x,)))
    graph.output(tuple(values))
    plain = fx.Interpreter(root, graph=graph).run(X)
    for result in program_runs(root, graph, X):
        assert_same(result, plain)


def test_a_missing_attribute_is_named():
    graph = fx.Graph()
    graph.output(graph.create_node("get_attr", "blocks.7.weight"))
    debugger = Driver().debugger
    program = debugger.program_for(Odd(), graph, None, "graph")
    for _ in range(3):
        with pytest.raises(AttributeError, match="7"):
            debugger.run_program(program, [])


BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("number", [-2, 3, -0.5])
def test_operators_keep_the_order_and_sign_of_their_operands(function, number):
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        return graph.call_function(function, (x, number)), graph.call_function(
            function, (number, x)
        )

    # torch's own code writes `-2 ** x` for pow(-2, x); its Interpreter calls the function.
    module = graph_of(build)
    plain = fx.Interpreter(module).run(X)
    for result in all_runs(module, X):
        assert_same(result, plain)


def test_bitwise_matrix_and_unary_operators_are_the_functions():
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        long = graph.call_method("long", (x,))
        binary = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
        results = [graph.call_function(f, (long, 1)) for f in binary]
        results += [graph.call_function(f, (long,)) for f in (operator.neg, operator.invert)]
        results.append(graph.call_function(operator.pos, (x,)))
        turned = graph.call_method("transpose", (x, -1, -2))
        return [*results, graph.call_function(operator.matmul, (x, turned))]

    check(graph_of(build), X)


def test_a_power_of_a_negative_number_is_not_the_negative_of_a_power():
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        size = graph.call_method("dim", (x,))
        return graph.call_function(operator.pow, (-2, size)), graph.call_function(
            operator.pow, (-2.0, size)
        )

    for result in all_runs(graph_of(build), torch.zeros(1, 1)):
        assert result == (4, 4.0)


INPLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow]


@pytest.mark.parametrize("function", INPLACE, ids=lambda f: f.__name__)
def test_in_place_operators_write_into_their_first_operand(function):
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        y = graph.call_function(torch.clone, (x,))
        z = graph.call_function(function, (y, 3))
        return y, z

    module = graph_of(build)
    for y, z in all_runs(module, X):
        assert y is z
        assert_same(z, module(X)[1])


def test_items_are_read_and_written():
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        y = graph.call_function(torch.clone, (x,))
        graph.call_function(operator.setitem, (y, (0, slice(1, None)), -1.0))
        picked: Any = (..., -1, slice(None, None, 2))
        index = graph.call_function(operator.getitem, (y, picked))
        shape = graph.call_function(getattr, (y, "shape"))
        pair = graph.call_function(operator.getitem, ((y, index), 1))
        return index, shape, graph.call_function(operator.getitem, (shape, -1)), pair

    check(graph_of(build), X)


def test_methods_are_called_on_nodes_and_on_constants():
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        text = graph.call_method("format", ("{}-{n}", 1), {"n": 2})
        return text, graph.call_method("chunk", (x, 2), {"dim": -1})

    check(graph_of(build), X)


def test_a_method_may_be_called_on_a_number():
    graph = fx.Graph()
    graph.output(graph.call_method("__add__", (1, -2)))
    assert program_runs(nn.Module(), graph) == [-1, -1, -1]


def test_defaults_and_starred_placeholders_take_what_the_call_gives():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=-2.5)
    rest = graph.placeholder("*rest")
    named = graph.placeholder("**named")
    graph.output(graph.call_function(echo, (x, y, rest, named)))
    module = fx.GraphModule(nn.Module(), graph)
    check(module, 1)
    check(module, 1, 2)
    check(module, 1, 2, 3, 4, k=5)
    check(module, y=3, x=1, z=2)


def test_a_wrong_call_raises_what_the_module_raises():
    module = graph_of(lambda graph, x: x)
    for args, kwargs in (((), {}), ((1, 2), {}), ((1,), {"x": 2}), ((1,), {"z": 2})):
        with pytest.raises(TypeError):
            module(*args, **kwargs)
        with Driver(), pytest.raises(TypeError):
            module(*args, **kwargs)


@pytest.mark.parametrize("output", [None, 3, "text", (), [], {"a": [1, (2,)]}, torch.float32])
def test_the_output_may_be_any_constant(output):
    check(graph_of(lambda graph, x: output), X)


def test_the_output_keeps_its_containers():
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        return [{"list": [x, 1], "tuple": (x,)}, Pair(x, None), slice(None, 2)]

    for containers, pair, cut in all_runs(graph_of(build), X):
        assert containers == {"list": [X, 1], "tuple": (X,)}
        assert type(pair) is Pair
        assert pair.left is X
        assert cut == slice(None, 2)


class _Random:
    """Builds a small random graph of ops that work on any values, with in-place writes."""

    unary = (torch.neg, torch.abs, torch.tanh, torch.clone, operator.neg, torch.sigmoid)
    binary = (torch.add, operator.add, operator.sub, operator.mul, torch.maximum)
    writes = ("add_", "mul_", "sub_")

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)
        self.graph = fx.Graph()
        self.values = [self.graph.placeholder("x"), self.graph.placeholder("y")]

    def build(self, length: int) -> fx.GraphModule:
        first = self.values[0]
        self.values[:] = [self.graph.call_function(torch.clone, (v,)) for v in self.values]
        for _ in range(length):
            self.values.append(self._node())
        kept = self.choice.sample(self.values, 3)
        self.graph.output({"a": kept[0], "b": (kept[1], [kept[2], -1]), "x": first})
        return fx.GraphModule(nn.Module(), self.graph)

    def _node(self) -> fx.Node:
        pick, graph = self.choice, self.graph
        kind = pick.randrange(5)
        a, b = pick.choice(self.values), pick.choice(self.values)
        if kind == 0:
            return graph.call_function(pick.choice(self.unary), (a,))
        if kind == 1:
            return graph.call_function(pick.choice(self.binary), (a, b))
        if kind == 2:
            return graph.call_method(pick.choice(self.writes), (a, pick.choice((0.5, -2))))
        if kind == 3:
            return graph.call_method("sum", (graph.call_function(torch.stack, ([a, b],)), 0))
        return graph.call_function(operator.getitem, ((a, b), pick.randrange(2)))


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_with_writes_give_what_the_module_gives(seed):
    module = _Random(seed).build(length=75)
    x, y = torch.randn(3, generator=torch.Generator().manual_seed(seed)), torch.ones(3)
    check(module, x, y)


def _fail(value: Any) -> Any:
    raise ZeroDivisionError("no")


def test_a_traceback_through_compiled_code_names_the_listing_line():
    def build(graph: fx.Graph, x: fx.Node) -> Any:
        for _ in range(40):
            x = graph.call_function(operator.neg, (x,))
        return graph.create_node("call_function", _fail, (x,), {}, name="boom")

    module = graph_of(build)
    with Driver() as driver:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError) as caught:
                module(X)
        program = driver.debugger.programs()[0]
    lines = {(f.filename, f.lineno) for f in traceback.extract_tb(caught.value.__traceback__)}
    assert (program.file, program.listing.lines["boom"]) in lines
    assert program.listing.text.splitlines()[program.listing.lines["boom"] - 1].strip() == (
        f"%boom = {__name__}._fail(%neg_39)"
    )
