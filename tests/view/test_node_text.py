"""Listing lines of single nodes."""

import collections
import enum
import operator
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
)
from torch.fx.passes.shape_prop import ShapeProp

from fxdap.view.dtypes import dtype_text
from fxdap.view.node_text import format_argument, node_line, type_text

Point = collections.namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1


class Plain:
    pass


class Raising:
    def __repr__(self):
        raise ValueError("no")


class ManyLines:
    def __repr__(self):
        return "two\nlines"


@pytest.fixture
def graph():
    return fx.Graph()


@pytest.fixture
def x(graph):
    return graph.placeholder("x")


def fake(*size, dtype=torch.float32):
    with FakeTensorMode():
        return torch.empty(*size, dtype=dtype)


def test_a_function_call_with_its_type(graph, x):
    node = graph.call_function(torch.relu, (x,))
    node.meta["val"] = fake(1, 3, 8)
    assert node_line(node) == "%relu: f32[1, 3, 8] = torch.relu(%x)"


def test_a_method_call_that_gives_a_tuple(graph, x):
    node = graph.call_method("chunk", (x, 2, -1))
    node.meta["val"] = (fake(1, 3, 2), fake(1, 3, 2))
    assert node_line(node) == "%chunk: (f32[1, 3, 2], f32[1, 3, 2]) = .chunk(%x, 2, -1)"


def test_a_module_call_stands_by_its_path(graph, x):
    node = graph.call_module("blocks.0.fc1", (x,))
    assert node_line(node) == "%blocks_0_fc1 = blocks.0.fc1(%x)"


def test_keyword_arguments_dtypes_and_devices(graph, x):
    kwargs = {
        "dtype": torch.float64,
        "device": torch.device("cuda:1"),
        "memory_format": torch.channels_last,
    }
    node = graph.call_method("to", (x,), kwargs)
    assert node_line(node) == (
        "%to = .to(%x, dtype=torch.float64, device=cuda:1, memory_format=torch.channels_last)"
    )


def test_indexing_with_slices_ellipsis_and_nodes(graph, x):
    index = (..., None, slice(0, x), slice(None, None, 2), [0, 1])
    node = graph.call_function(operator.getitem, (x, index))
    assert node_line(node) == (
        "%getitem = operator.getitem(%x, (..., None, slice(0, %x), slice(None, None, 2), [0, 1]))"
    )


def test_the_output_returns_what_it_returns(graph, x):
    node = graph.output({"y": x, "rest": [x, None, (x,)]})
    assert node_line(node) == "%output = return {'y': %x, 'rest': [%x, None, (%x,)]}"


def test_placeholders_say_their_name_and_default_where_it_matters(graph, x):
    assert node_line(x) == "%x = placeholder"
    scale = graph.placeholder("scale", default_value=2.0)
    assert node_line(scale) == "%scale = placeholder(scale=2.0)"
    rest = graph.placeholder("*args")
    assert node_line(rest) == f"%{rest.name} = placeholder(*args)"


def test_a_fetched_attribute_stands_by_its_path(graph):
    node = graph.create_node("get_attr", "blocks.0.weight")
    node.meta["val"] = fake(4, 4, dtype=torch.bfloat16)
    assert node_line(node) == "%blocks_0_weight: bf16[4, 4] = get_attr blocks.0.weight"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.5, "1.5"),
        (float("nan"), "nan"),
        (True, "True"),
        (None, "None"),
        (2j, "2j"),
        ("it's", '"it\'s"'),
        ("line\nbreak", r"'line\nbreak'"),
        (..., "..."),
        ((), "()"),
        ((1,), "(1,)"),
        ([[1, 2], [3]], "[[1, 2], [3]]"),
        ({"b": 1, "a": (2,)}, "{'b': 1, 'a': (2,)}"),
        ({"b", "a"}, "{'a', 'b'}"),
        (set(), "set()"),
        (range(3), "range(0, 3)"),
        (torch.Size([2, 3]), "(2, 3)"),
        (torch.strided, "torch.strided"),
        (Point(1, [2]), "Point(x=1, y=[2])"),
        (Color.RED, "Color.RED"),
        (nn.ReLU(), "<ReLU>"),
        (torch.ones(2, 3), "<f32[2, 3]>"),
        (torch.relu, "torch.relu"),
        (torch.ops.aten.add.Tensor, "aten.add.Tensor"),
        (dict, "dict"),
        (Plain(), f"<{__name__}.Plain>"),
        (Raising(), "<Raising>"),
        (ManyLines(), "two lines"),
    ],
)
def test_arguments_of_every_sort(value, text):
    assert format_argument(value) == text


def test_long_constants_are_cut():
    assert format_argument("a" * 1000) == f"'{'a' * 80}'...920 more"
    numbers = ", ".join(map(str, range(16)))
    assert format_argument(list(range(5000))) == f"[{numbers}, ... 4984 more]"


def test_no_node_is_hidden_in_a_long_list(x):
    assert format_argument([x] * 40) == f"[{', '.join(['%x'] * 40)}]"
    assert format_argument([0] * 40 + [[x]]).endswith("0, [%x]]")


def test_a_container_in_itself_ends():
    endless: list[object] = []
    endless.append(endless)
    assert format_argument(endless) == "[[[[[[[[[...]]]]]]]]]"


def test_symbolic_sizes_are_shown_by_name_and_add_no_guard(graph):
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    dimensions = [DimDynamic.DYNAMIC, DimDynamic.STATIC]
    context: Any = StatelessSymbolicContext(dynamic_sizes=dimensions)
    value = mode.from_tensor(torch.ones(5, 16), symbolic_context=context)
    name, guards = str(value.shape[0]), len(env.guards)
    x = graph.placeholder("x")
    x.meta["val"] = value
    size = graph.call_method("size", (x, 0))
    size.meta["val"] = value.shape[0]
    assert node_line(x) == f"%x: f32[{name}, 16] = placeholder"
    assert node_line(size) == f"%size: Sym({name}) = .size(%x, 0)"
    assert len(env.guards) == guards


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (3, "int"),
        (True, "bool"),
        ([torch.ones(2), None], "[f32[2], None]"),
        ((torch.ones(2),), "(f32[2],)"),
        ({"a": torch.ones(2)}, "{'a': f32[2]}"),
        ([torch.ones(1)] * 20, f"[{', '.join(['f32[1]'] * 16)}, ... 4 more]"),
    ],
)
def test_recorded_types_of_other_values(graph, x, value, text):
    x.meta["val"] = value
    assert type_text(x) == text


def test_types_are_read_from_the_key_each_tracer_uses(graph, x):
    x.meta["example_value"] = torch.ones(2, dtype=torch.int64)
    assert type_text(x) == "i64[2]"
    module = fx.symbolic_trace(nn.Linear(3, 2))
    ShapeProp(module).propagate(torch.ones(4, 3))
    assert type_text(next(iter(module.graph.nodes))) == "f32[4, 3]"
    assert type_text(graph.call_function(torch.relu, (x,))) == ""


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (torch.float32, "f32"),
        (torch.bfloat16, "bf16"),
        (torch.complex64, "c64"),
        (torch.uint8, "u8"),
        (torch.bool, "b8"),
        (torch.float8_e4m3fn, "f8e4m3fn"),
        (torch.quint8, "quint8"),
    ],
)
def test_dtypes_have_the_short_names_of_torchs_own_listings(dtype, text):
    assert dtype_text(dtype) == text
