"""Dynamic shapes: what the metadata leaves open is shown with what a run bound it to."""

import pytest
import torch
from torch import fx

from fxdap.server.env_tree import env_items
from fxdap.server.variables_tree import Item, ValueBranch
from fxdap.view.listing import build_listing
from fxdap.view.scope import module_scopes
from fxdap.view.source import user_line
from fxdap.view.summary import summarize
from fxdap.view.symbols import Parts, bound_symbols, left_open, with_symbols
from sample_models import dynamic
from tests.engine.driver import Driver


@pytest.fixture(scope="module")
def module() -> fx.GraphModule:
    made: fx.GraphModule = dynamic.program().module()
    return made


@pytest.fixture(scope="module")
def shown(module) -> dict[str, str]:
    """What the Env scope says at the end of a run with seven rows, groups opened."""
    found: list[Item] = []

    def note(_, thread, stop):
        for item in env_items(thread.frames[-1], ""):
            found.append(item)
            if item.branch is not None:
                found.extend(item.branch.items())

    driver = Driver(at_stop=note)
    driver.break_on("op:output")
    with driver:
        module(*dynamic.example_inputs())
    return {i.name: with_symbols(i.text or summarize(i.value), i.left_open, i.value) for i in found}


def symbols(module) -> list[str]:
    """The names that torch chose for the two open sizes of the inputs."""
    x, count = (n for n in module.graph.nodes if n.name in ("x", "count"))
    return [str(x.meta["val"].shape[0]), str(count.meta["val"])]


def test_a_tensor_shows_its_open_sizes_both_ways(module, shown):
    rows, count = symbols(module)
    assert shown["x"].startswith(f"f32[{rows}=7, 16] cpu  min 0")
    assert shown["reshape"].startswith(f"f32[16*{rows}=112] cpu")
    assert shown["slice_1"].startswith(f"f32[{count}=6] cpu")
    assert shown["ones"].startswith(f"f32[u0=3, {rows} + 1=8] cpu")
    assert shown["nonzero"].startswith("i64[u1=7, 2] cpu")
    assert shown["repeats"] == "i64[] cpu  3"


def test_a_number_shows_its_symbol(module, shown):
    rows, count = symbols(module)
    assert shown["count"] == f"{count} = 6"
    assert shown["item"] == "u0 = 3"
    assert shown["add"] == f"{rows} + 1 = 8"
    assert shown["ge"] == "True  u0 >= 0"


def test_the_symbols_are_bound_in_one_group(module, shown):
    rows, count = symbols(module)
    assert shown["symbols"] == f"{rows} = 7, {count} = 6, u0 = 3, u1 = 7"
    assert [shown[name] for name in (rows, count, "u0", "u1")] == ["7", "6", "3", "7"]


def test_the_listing_keeps_the_symbols(module):
    rows, count = symbols(module)
    lines = [line.strip() for line in build_listing(module).text.splitlines()]
    assert f"%x: f32[{rows}, 16] = placeholder" in lines
    assert f"%count: Sym({count}) = placeholder" in lines
    assert "%item: Sym(u0) = aten.item.default(%repeats)" in lines
    assert "%nonzero: i64[u1, 2] = aten.nonzero.default(%x)" in lines


def test_nodes_made_by_torchs_passes_stand_in_no_module_and_on_no_line_of_the_users(module):
    node = next(n for n in module.graph.nodes if n.name == "sym_size_int_1")
    assert module_scopes(node) == ()
    assert user_line(node) is None


def test_metadata_that_does_not_fit_the_value_is_left_out():
    node = fx.Graph().placeholder("x")
    assert with_symbols("f32[2] cpu", left_open(node), torch.ones(2)) == "f32[2] cpu"
    node.meta["val"] = (
        dynamic.program().graph_module.graph.find_nodes(op="placeholder")[0].meta["val"]
    )
    assert with_symbols("f32[2] cpu", left_open(node), torch.ones(2)) == "f32[2] cpu"
    assert with_symbols("None", left_open(node), None) == "None"
    assert list(bound_symbols(left_open(node), torch.ones(2))) == []


OPEN = Parts((("s0", ""), None, "s1", Parts((("2*s0",),))))
ITEMS = (torch.ones(7, 16), torch.ones(7), 7, [torch.ones(14)])


def test_the_items_of_a_tuple_show_their_symbols():
    shown = "(f32[s0=7, 16], f32[7], s1=7, [f32[2*s0=14]])"
    assert with_symbols(summarize(ITEMS), OPEN, ITEMS) == shown
    assert with_symbols("(f32[7, 16], ... 3 more)", OPEN, ITEMS) == "(f32[s0=7, 16], ... 3 more)"
    assert list(bound_symbols(OPEN, ITEMS)) == [("s0", 7), ("s1", 7)]
    rows = ValueBranch(ITEMS, "x", OPEN).page(0, 4)
    assert [row.left_open for row in rows] == list(OPEN.items)


def test_what_max_gives_shows_its_symbols():
    found = torch.ones(7, 16).max(1)
    assert with_symbols(summarize(found), Parts((("s0",), ("s0",))), found) == (
        "max(values=f32[s0=7], indices=i64[s0=7])"
    )
