"""Lines of values that are no tensors."""

import collections
import functools
import math
import operator
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import fx, nn

from fxdap.view.budget import Budget
from fxdap.view.summary import Unreadable, summarize, type_name
from tests.view import odd_values as odd

VALUES = odd.odd_values()


@pytest.mark.parametrize("name", VALUES)
def test_every_value_has_one_short_printable_line(name):
    line = summarize(VALUES[name])
    assert 0 < len(line) <= 200
    assert line.isprintable()
    assert "not readable" not in line or name in ("raising repr", "raising attributes")
    assert type_name(VALUES[name])


@pytest.mark.parametrize("name", VALUES)
def test_every_value_fits_a_narrow_budget_and_no_time(name):
    assert len(summarize(VALUES[name], Budget(length=12, seconds=0))) <= 12


LINES: list[tuple[Any, str]] = [
    (None, "None"),
    (True, "True"),
    (-3, "-3"),
    (1.5, "1.5"),
    (math.nan, "nan"),
    (1j, "1j"),
    ("it's\n", '"it\'s\\n"'),
    (b"ab\0", r"b'ab\x00'"),
    (bytearray(b"a"), "bytearray(b'a')"),
    (memoryview(b"abc"), "memoryview  3 bytes"),
    (..., "Ellipsis"),
    (torch.float32, "torch.float32"),
    (torch.device("cuda:1"), "cuda:1"),
    (torch.Size([2, 3]), "torch.Size([2, 3])"),
    (odd.Color.RED, "Color.RED"),
    (odd.Access.READ, "Access.READ"),
    ([1, torch.ones(2, 3), "a", None], "[1, f32[2, 3], 'a', None]"),
    ([], "[]"),
    ((1,), "(1,)"),
    ({1}, "{1}"),
    (set(), "set()"),
    (frozenset({1}), "frozenset({1})"),
    ({"a": torch.ones(2), 2: [1]}, "{'a': f32[2], 2: [1]}"),
    (collections.OrderedDict(a=1), "OrderedDict({'a': 1})"),
    (collections.deque([1, 2]), "deque([1, 2])"),
    ({"a": 1}.keys(), "dict_keys(['a'])"),
    (odd.Point(1, torch.ones(2)), "Point(x=1, y=f32[2])"),
    (torch.max(torch.ones(2, 2), 0), "max(values=f32[2], indices=i64[2])"),
    (odd.cyclic_list(), "[1, [1, [1, [...]]]]"),
    (odd.cyclic_dict(), "{'me': {'me': {'me': {...}}}}"),
    (odd.HostileList([1]), "HostileList([1])"),
    (odd.HostileDict(a=1), "HostileDict({'a': 1})"),
    (odd.Config(3, torch.ones(2)), "Config(width=3, weight=f32[2])"),
    (odd.ModelOutput(state=torch.ones(2)), "ModelOutput(state=f32[2])"),
    (odd.Plain(), "<tests.view.odd_values.Plain _private=1, public=f32[2]>"),
    (odd.Empty(), "<tests.view.odd_values.Empty>"),
    (odd.AnyAttribute(), "<tests.view.odd_values.AnyAttribute>"),
    (
        odd.RaisingRepr(),
        "<tests.view.odd_values.RaisingRepr, not readable: ValueError: two lines>",
    ),
    (odd.LyingClass(), "<tests.view.odd_values.LyingClass>"),
    (torch.relu, "<function torch.relu>"),
    (odd.generator, "<function tests.view.odd_values.generator>"),
    (torch.ops.aten.add.Tensor, "<function aten.add.Tensor>"),
    (odd.Plain().get, "<method tests.view.odd_values.Plain.get>"),
    (functools.partial(operator.add, torch.ones(2)), "partial(operator.add, f32[2])"),
    (nn.Linear, "<class 'torch.nn.Linear'>"),
    (torch, "<module 'torch'>"),
    (odd.generator(), "<generator generator>"),
    (ValueError("two\nlines"), "ValueError: two lines"),
    (nn.Linear(2, 3), "Linear(in_features=2, out_features=3, bias=True)"),
    (nn.Sequential(nn.Linear(2, 2), nn.ReLU()), "Sequential(Linear, ReLU)"),
    (nn.ModuleList([nn.ReLU(), nn.ReLU()]), "ModuleList(2 x ReLU)"),
    (nn.MultiheadAttention(2, 1), "MultiheadAttention(out_proj)"),
    (fx.symbolic_trace(nn.Linear(2, 3)), "Linear  5 nodes"),
    (torch.ones(2).untyped_storage(), "UntypedStorage  8 bytes cpu"),
    (np.ones((2, 3), "f4"), "f32[2, 3] numpy  min 1  max 1  mean 1"),
    (np.array([1, np.nan, np.inf]), "f64[3] numpy  min 1  max 1  mean 1  nan 1  inf 1"),
    (np.array(["a"]), "<U1[1] numpy"),
    (np.array(3), "i64[] numpy  3"),
    (Unreadable(ValueError("why")), "<not readable: ValueError: why>"),
]


# With ids of their own, because pytest would ask some of these values what they are.
@pytest.mark.parametrize(("value", "line"), LINES, ids=[line for _, line in LINES])
def test_a_value_is_shown_as(value, line):
    assert summarize(value) == line


def test_an_integer_too_long_for_python_to_print_is_measured():
    assert summarize(10**10_000) == "integer of 33,220 bits"


def test_only_the_items_that_fit_are_rendered():
    rendered = []

    class Item:
        def __repr__(self) -> str:
            rendered.append(self)
            return "item"

    line = summarize([Item() for _ in range(10_000)])
    assert re.fullmatch(r"\[(item, )+\.\.\. 9,9\d\d more\]", line)
    assert len(rendered) == line.count("item") + 1


def test_a_long_string_is_cut_before_it_is_quoted():
    assert summarize("z" * 1_000_000) == f"'{'z' * 166}... 1,000,000 characters"
    assert summarize(["z" * 100]) == f"['{'z' * 36}... 100 characters]"


def test_a_repr_is_not_run_once_the_time_is_spent():
    assert summarize(odd.LongRepr(), Budget(seconds=0)) == "<tests.view.odd_values.LongRepr>"
    assert summarize(odd.LongRepr()) == f"{'y' * 167}..."


def test_looking_at_a_proxy_adds_no_node():
    graph = fx.Graph()
    proxy = fx.Proxy(graph.placeholder("x"))
    assert summarize(proxy) == "Proxy(%x)"
    assert summarize(proxy.node) == "%x = placeholder"
    assert len(graph.nodes) == 1


def test_looking_at_a_generator_does_not_advance_it():
    running = odd.generator()
    summarize(running)
    assert next(running) == 1


def test_types_are_named_as_users_import_them():
    values: list[object] = [1, [], torch.ones(1), nn.Parameter(), odd.Plain()]
    assert list(map(type_name, values)) == [
        "int",
        "list",
        "torch.Tensor",
        "torch.nn.Parameter",
        "tests.view.odd_values.Plain",
    ]
