"""The parts of values, other than tensors."""

import collections
import functools
import operator

import numpy as np
import pytest
import torch
from torch import fx, nn

from fxdap.view.children import Counts, children, count_children, indexed_children
from fxdap.view.summary import Unreadable, summarize
from fxdap.view.tensor_statistics import Statistics
from tests.view import odd_values as odd

VALUES = odd.odd_values()


def named(value):
    return {child.name: child.value for child in children(value).named}


def accessors(value):
    return {child.name: child.accessor for child in children(value).named}


def page(value, start, count):
    return [(c.name, c.value, c.accessor) for c in indexed_children(value, start, count)]


@pytest.mark.parametrize("name", VALUES)
def test_every_value_can_be_opened_and_its_parts_be_shown(name):
    value = VALUES[name]
    found = children(value)
    parts = [*found.named, *indexed_children(value, 0, 3)]
    assert all(0 < len(summarize(part.load())) <= 200 for part in parts)
    assert all(part.name for part in parts)


@pytest.mark.parametrize("name", VALUES)
def test_the_cheap_count_agrees_with_what_is_there(name):
    value = VALUES[name]
    found, counted = children(value), count_children(value)
    assert bool(counted.named) == bool(found.named)
    assert counted.indexed == found.indexed


# torch refuses to tell the user, too, what an uninitialized parameter is like.
@pytest.mark.parametrize("name", [name for name in VALUES if name != "uninitialized"])
def test_accessors_reach_the_part_that_is_shown(name):
    value = VALUES[name]
    for part in [*children(value).named, *indexed_children(value, 0, 3)]:
        if part.accessor is None or isinstance(part.load(), Unreadable):
            continue
        reached = eval(f"value{part.accessor}", {"value": value})
        assert summarize(reached) == summarize(part.load()) or _is_element(part.value)


def _is_element(value):
    """An element of a tensor or array is shown as a number, and reached as a view."""
    return type(value) in (int, float, bool, complex)


def test_atoms_have_no_parts():
    for value in (None, 1, "text", torch.float32, len, nn.Linear, torch, odd.generator()):
        assert children(value).named == []
        assert count_children(value) == Counts(0, 0)


def test_a_list_is_paged():
    values = list(range(10_000))
    assert count_children(values) == Counts(0, 10_000)
    assert page(values, 5000, 2) == [("[5000]", 5000, "[5000]"), ("[5001]", 5001, "[5001]")]
    assert page(values, 9999, 100) == [("[9999]", 9999, "[9999]")]
    assert page(values, 20_000, 100) == []
    assert page(values, -5, 1) == [("[0]", 0, "[0]")]
    assert page(values, 0, -1) == []


def test_what_cannot_be_indexed_has_no_accessor():
    assert page({7}, 0, 10) == [("[0]", 7, None)]
    assert page({"a": 1}.keys(), 0, 10) == [("[0]", "a", None)]
    assert page(collections.deque([7]), 0, 10) == [("[0]", 7, "[0]")]
    assert page(range(3, 9), 1, 1) == [("[1]", 4, "[1]")]


def test_a_dict_is_opened_by_key():
    value = {"a": 1, 2: "b", (3, 4): None}
    assert named(value) == {"'a'": 1, "2": "b", "(3, 4)": None}
    assert accessors(value) == {"'a'": "['a']", "2": "[2]", "(3, 4)": None}


def test_a_long_dict_is_paged():
    value = {i: -i for i in range(1000)}
    assert children(value) == type(children(value))([], 1000)
    assert page(value, 998, 100) == [("998", -998, "[998]"), ("999", -999, "[999]")]


def test_named_fields_are_attributes():
    assert named(odd.Point(1, 2)) == {"x": 1, "y": 2}
    assert named(odd.Config(3)) == {"width": 3, "weight": None}
    assert accessors(odd.ModelOutput(state=1)) == {"state": ".state"}
    assert list(named(torch.max(torch.ones(2, 2), 0))) == ["values", "indices"]


def test_an_object_shows_what_it_stores_public_first():
    assert list(named(odd.Plain())) == ["public", "_private"]
    assert named(odd.Slotted()) == {"size": 3}


def test_properties_run_only_when_they_are_opened():
    value = odd.WithProperty()
    lazy = {child.name: child for child in children(value).named if child.lazy}
    assert list(lazy) == ["answer", "broken"]
    assert value.asked == 0
    assert lazy["answer"].load() == 42
    assert summarize(lazy["broken"].load()) == "<not readable: ValueError: broken property>"


def test_a_module_is_a_tree_of_parameters_buffers_and_modules():
    norm = nn.BatchNorm1d(2)
    assert list(accessors(norm).items())[:6] == [
        ("weight", ".weight"),
        ("bias", ".bias"),
        ("running_mean", ".running_mean"),
        ("running_var", ".running_var"),
        ("num_batches_tracked", ".num_batches_tracked"),
        ("training", ".training"),
    ]
    assert named(norm)["weight"] is norm.weight
    assert accessors(nn.Sequential(nn.ReLU()))["0"] == "[0]"
    assert accessors(fx.symbolic_trace(nn.Sequential(nn.ReLU())))["0"] == "._modules['0']"


def test_a_graph_module_shows_its_graph_and_on_demand_its_code():
    module = fx.symbolic_trace(nn.Linear(2, 3))
    parts = {child.name: child for child in children(module).named}
    assert parts["graph"].value is module.graph
    assert parts["code"].load() == module.code
    assert count_children(module.graph) == Counts(1, 5)
    assert [name for name, _, _ in page(module.graph, 0, 2)] == ["input_1", "weight"]


def test_a_node_shows_its_fields():
    node = fx.Graph().placeholder("x")
    assert named(node)["op"] == "placeholder"
    assert named(node)["name"] == "x"


def test_callables_with_state_show_it():
    assert named(functools.partial(operator.add, 1)) == {
        "func": operator.add,
        "args": (1,),
        "keywords": {},
    }
    value = odd.Plain()
    assert named(value.get)["__self__"] is value


def test_an_exception_shows_its_arguments_and_cause():
    error = ValueError("what", 3)
    error.__cause__ = KeyError("why")
    assert named(error) == {"args": ("what", 3), "__cause__": error.__cause__}


def test_statistics_open_into_numbers():
    assert named(Statistics(min=1, negative_inf=2)) == {"min": 1, "-inf": 2}


def test_an_array_is_opened_like_a_tensor():
    array = np.arange(6, dtype="f4").reshape(2, 3) / 10
    assert named(array) == {"shape": (2, 3), "dtype": array.dtype, "strides": (12, 4), "nbytes": 24}
    assert [child.name for child in indexed_children(array, 1, 5)] == ["[1]"]
    assert page(array[0], 1, 5) == [("[1]", 0.1, "[1]"), ("[2]", 0.2, "[2]")]


def test_a_symbol_shows_its_expression():
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    symbol = ShapeEnv().create_unbacked_symint()
    assert named(symbol) == {"expression": "u0", "hint": None}


def test_a_value_that_raises_everywhere_is_opened_to_the_error():
    (error,) = children(odd.RaisingAttributes()).named
    assert summarize(error.value).startswith("<not readable: RuntimeError: no __dict__")
