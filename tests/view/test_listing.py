"""Listings of whole graphs."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.view.listing import build_listing
from fxdap.view.listing_text import names_by_line
from sample_models import cnn, gpt, nested

TRACE = '  File "/home/me/{file}", line {line}, in forward\n    {code}\n'


class Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.linear(x), lambda x: x - 1, (x,))


def exported(module, *inputs):
    return torch.export.export(module, inputs).module()


def assert_lists_every_node(listing, graphs):
    expected = [
        f"{path}/{node.name}" if path else node.name
        for path, graph in graphs.items()
        for node in graph.nodes
    ]
    assert list(listing.lines) == expected
    assert names_by_line(listing.text) == {line: name for name, line in listing.lines.items()}


def test_nodes_stand_under_their_module_and_source_line():
    graph = fx.Graph()
    x = graph.placeholder("x")
    block = {"nn_module_stack": {"blocks.0": ("blocks.0", "model.Block")}}
    fc1 = graph.call_module("blocks.0.fc1", (x,))
    fc1.meta = block | {"stack_trace": TRACE.format(file="model.py", line=7, code="h = fc1(x)")}
    relu = graph.call_function(torch.relu, (fc1,))
    relu.meta = block | {"stack_trace": TRACE.format(file="model.py", line=8, code="h = relu(h)")}
    chunk = graph.call_method("chunk", (relu, 2, -1))
    chunk.meta = dict(relu.meta)
    add = graph.call_function(torch.add, (chunk, 1))
    add.meta = {"stack_trace": TRACE.format(file="net.py", line=3, code="return h + 1")}
    graph.output({"y": add})
    assert build_listing(nn.Module(), graph, title="net").text == (
        "# net\n"
        "  %x = placeholder\n"
        "# blocks.0  Block                                   model.py:7\n"
        "  %blocks_0_fc1 = blocks.0.fc1(%x)\n"
        "  # model.py:8  h = relu(h)\n"
        "  %relu = torch.relu(%blocks_0_fc1)\n"
        "  %chunk = .chunk(%relu, 2, -1)\n"
        "# net                                               net.py:3\n"
        "  %add = torch.add(%chunk, 1)\n"
        "  %output = return {'y': %add}\n"
    )


def test_a_second_call_of_a_module_has_its_own_header():
    shared = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shared = shared

        def forward(self, x):
            return self.shared(self.shared(x))

    text = build_listing(fx.symbolic_trace(Twice()), title="twice").text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# twice",
        "# shared  Sequential",
        "# shared  Sequential (call 2)",
    ]


def test_the_call_of_a_module_names_its_class():
    text = build_listing(fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))).text

    calls = [line.strip() for line in text.splitlines() if "(%" in line]
    assert calls == ["%_0 = 0(%input_1)  # Linear", "%_1 = 1(%_0)  # ReLU"]


def test_files_of_the_same_name_are_told_apart():
    graph = fx.Graph()
    x = graph.placeholder("x")
    for file in ("bert/model.py", "gpt/model.py", "gpt/block.py"):
        x = graph.call_function(torch.relu, (x,))
        x.meta["stack_trace"] = TRACE.format(file=file, line=1, code="y")
    graph.output(x)
    text = build_listing(nn.Module(), graph, title="g").text
    assert [line.strip() for line in text.splitlines() if ".py" in line] == [
        "# bert/model.py:1  y",
        "# gpt/model.py:1  y",
        "# block.py:1  y",
    ]


def test_bodies_of_higher_order_ops_follow_as_sections_of_their_own():
    module: Any = exported(Branch(), torch.ones(2, 4))
    listing = build_listing(module, title="branch")
    graphs = {
        "": module.graph,
        "true_graph_0": module.true_graph_0.graph,
        "false_graph_0": module.false_graph_0.graph,
    }
    assert_lists_every_node(listing, graphs)
    lines = listing.text.splitlines()
    assert "  # graph false_graph_0  in %cond" in lines
    assert "    false_graph_0/%sub: f32[2, 4] = aten.sub.Tensor(%x, 1)" in lines


def test_a_graph_module_called_twice_is_listed_once():
    module: Any = nested.model()
    listing = build_listing(module, title="nested")
    graphs = {
        "": module.graph,
        "layer": module.layer.graph,
        "layer.gate": module.layer.gate.graph,
    }
    assert_lists_every_node(listing, graphs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fx.symbolic_trace(gpt.GPT(gpt.GPTConfig(blocks=2))),
        lambda: exported(gpt.GPT(gpt.GPTConfig(blocks=2)), *gpt.example_inputs()),
        lambda: fx.symbolic_trace(cnn.model()),
    ],
    ids=["gpt traced", "gpt exported", "cnn traced"],
)
def test_every_node_of_a_sample_is_on_exactly_one_line(make):
    module = make()
    assert_lists_every_node(build_listing(module, title="sample"), {"": module.graph})


def test_a_name_or_constant_with_line_breaks_stays_on_one_line():
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(torch.relu, (x,), {"text": "a\nb\u2028c", "odd\rkey": 1})
    node.meta["stack_trace"] = TRACE.format(file="m.py", line=1, code="s = '\x0c\x85'")
    graph.output(node)
    listing = build_listing(nn.Module(), graph, title="two\nlines")
    assert len(listing.text.splitlines()) == listing.text.count("\n")
    assert_lists_every_node(listing, {"": graph})


PRINT_DIGEST = "from tests.view.test_listing import digest; print(digest())"


def digest():
    modules = (exported(Branch(), torch.ones(2, 4)), fx.symbolic_trace(gpt.GPT()))
    texts = [build_listing(module, title="g").text for module in modules]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def test_another_process_writes_the_same_bytes(repo_root: Path):
    # Graphs made before shift the names torch gives to generated code; the text must not care.
    exported(nn.ReLU(), torch.ones(2))
    run = subprocess.run(
        [sys.executable, "-c", PRINT_DIGEST],
        cwd=repo_root,
        env=os.environ | {"PYTHONPATH": str(repo_root), "PYTHONHASHSEED": "7"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == digest()


def test_twenty_thousand_nodes_are_listed():
    graph = fx.Graph()
    x = graph.placeholder("x")
    for index in range(20_000):
        x = graph.call_function(torch.relu, (x,))
        x.meta["nn_module_stack"] = {f"l.{index // 5}": (f"l.{index // 5}", "m.Layer")}
    graph.output(x)
    listing = build_listing(nn.Module(), graph, title="long")
    assert_lists_every_node(listing, {"": graph})
    assert listing.text.count("\n") == 20_002 + 4_000 + 1


def test_listing_changes_nothing_in_the_module():
    module = fx.symbolic_trace(cnn.model())
    before = (module.code, str(module.graph))
    build_listing(module, title="cnn")
    assert (module.code, str(module.graph)) == before
