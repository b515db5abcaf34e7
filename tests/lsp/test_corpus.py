"""Listings of real graphs: what is read from the text is what the graph is."""

import operator
from functools import cache

import pytest
import torch

from fxdap.engine.program import Program
from fxdap.engine.selectors import parse_selector
from fxdap.graphs.target import load_target
from fxdap.lsp.listing.checks import node_findings
from fxdap.lsp.listing.model import Listing
from fxdap.lsp.listing.operators import opcode
from fxdap.lsp.listing.selectors import select
from fxdap.lsp.listing.storage_checks import shared_writes
from fxdap.view.listing import build_listing
from fxdap.view.nested import nested_graphs
from fxdap.view.scope import enclosing_scopes
from fxdap.view.source import user_line


class Branches(torch.nn.Module):
    """Bodies of a higher-order operator, and a write that a view sees."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x):
        y = self.norm(x)
        row = y[0]
        y.add_(1)
        return torch.cond(row.sum() > 0, torch.sin, lambda value: value.cos() + 1, (y,)) + row


def branches():
    model = Branches().eval().requires_grad_(False)
    return torch.export.export(model, (torch.ones(2, 4),), strict=False).module()


GRAPHS = {
    "mlp": lambda path: load_target(f"{path}/mlp.py:MLP").module,
    "mlp traced": lambda path: load_target(f"{path}/mlp.py:MLP", capture="symbolic_trace").module,
    "cnn": lambda path: load_target(f"{path}/cnn.py:model").module,
    "gpt": lambda path: load_target(f"{path}/gpt.py:GPT").module,
    "gpt traced": lambda path: load_target(f"{path}/gpt.py:GPT", capture="symbolic_trace").module,
    "nested": lambda path: load_target(f"{path}/nested.py:model").module,
    "branches": lambda path: branches(),
}


@cache
def load(name, path):
    module = GRAPHS[name](path)
    return module, Listing(build_listing(module, title=name).text)


@pytest.fixture(params=GRAPHS)
def graph(request, sample_models):
    return load(request.param, sample_models)


def pairs(module, listing):
    """Each real node with what was read from its line."""
    graphs = [
        ("", module.graph),
        *((each.path, each.graph) for each in nested_graphs(module, module.graph)),
    ]
    for path, graph in graphs:
        for node in graph.nodes:
            read = listing.find(path, node.name)
            assert read is not None, node
            yield node, read


def test_every_node_is_read_with_its_opcode_and_target(graph):
    module, listing = graph
    found = list(pairs(module, listing))

    assert len(found) == len(listing.nodes)
    for node, read in found:
        assert opcode(read.text) == node.op, node.format_node()
        if node.op == "call_module":
            assert read.text.target == node.target


def test_producers_and_users_are_those_of_the_graph(graph):
    for node, read in pairs(*graph):
        assert [each.text.name for each in read.inputs] == [
            each.name for each in node.all_input_nodes
        ]
        assert {each.text.name for each in read.users} == {each.name for each in node.users}


def test_modules_and_source_lines_are_those_of_the_graph(graph):
    for node, read in pairs(*graph):
        if node.op in ("placeholder", "output"):
            continue
        scopes = enclosing_scopes(node)
        assert read.module.path == (scopes[-1].path if scopes else "")
        where = user_line(node)
        if where is not None and read.place is not None:
            assert (read.place.line, where.file.endswith(read.place.file)) == (where.line, True)


def test_no_diagnostic_is_wrong(graph):
    module, listing = graph
    users = {read: node.users for node, read in pairs(module, listing)}
    by_line = {read.line: read for read in users}
    found = [each for node in listing.nodes for each in node_findings(listing, node)]

    for each in found:
        node = by_line[each.line]
        if each.code == "dead":
            assert not users[node]
        else:
            assert each.code == "device", each
            assert (
                f"device={listing.lines[each.line][each.start : each.end]}" in node.text.arguments
            )
    assert listing.duplicates == []


def test_a_view_that_sees_a_later_write_is_named(sample_models):
    _, listing = load("branches", sample_models)

    found = list(shared_writes(listing))

    assert [listing.lines[each.line][each.start : each.end] for each in found] == ["%add_"]
    assert "%select shows the same storage" in found[0].message
    assert not list(shared_writes(load("cnn", sample_models)[1]))


@pytest.mark.parametrize("name", ["gpt", "gpt traced"])
@pytest.mark.parametrize(
    "selector",
    [
        *("op:call_function", "target:aten.linear", "target:dropout", "module:blocks.1", "gelu*"),
        *("class:Linear", "class:Block !class:LayerNorm", "target:torch.nn.LayerNorm"),
        *(
            "module:blocks.*.ln1",
            "source:gpt.py:51",
            "/softmax/",
            "!op:get_attr module:blocks.2.attn",
        ),
    ],
)
def test_selectors_mean_what_they_mean_to_the_debugger(sample_models, name, selector):
    module, listing = load(name, sample_models)
    program = Program(module, module.graph, "GPT")

    found = [node.text.name for node in select(listing, selector)]

    matched = parse_selector(selector).match(program).indices
    assert found == [program.nodes[index].name for index in matched]


def test_no_target_of_python_is_taken_for_a_module():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    for function in (operator.add, torch.add, max, getattr, torch.ops.aten.add.Tensor):
        graph.call_function(function, (x, x))
    graph.output(x)
    listing = Listing(build_listing(torch.fx.GraphModule({}, graph)).text)

    assert [opcode(node.text) for node in listing.nodes[1:-1]] == ["call_function"] * 5
