"""Node selectors: every kind of term, how bare terms are read, and what errors say."""

from typing import Any

import pytest
import torch
from torch import fx, nn
from torch.nn import functional as F

from fxdap.engine.debugger import Debugger
from fxdap.engine.locations import SelectorLocation
from fxdap.engine.program import Program
from fxdap.engine.selectors import SelectorError, parse_selector
from fxdap.graphs.tracer import trace_with_sources
from sample_models import gpt
from tests.engine.driver import Driver


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.proj(x))
        return F.relu(y).relu() + y


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = Attention()
        self.norm = nn.LayerNorm(4)

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.norm(self.attn(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return torch.softmax(x * self.scale, dim=-1)


def _program(module: fx.GraphModule, name: str = "net") -> Program:
    debugger: Debugger = Driver().debugger
    return debugger.program_for(module, module.graph, None, name)


@pytest.fixture(scope="module")
def traced() -> Program:
    return _program(trace_with_sources(Net()))


@pytest.fixture(scope="module")
def exported() -> Program:
    return _program(torch.export.export(Net(), (torch.ones(2, 4),)).module())


def selected(program: Program, text: str) -> list[str]:
    return [program.nodes[i].name for i in parse_selector(text).match(program).indices]


TRACED = {
    "relu_1": ["relu_1"],
    "%relu_1": ["relu_1"],
    "relu*": ["relu", "relu_1", "relu_2", "relu_3", "relu_4", "relu_5"],
    "relu_[12]": ["relu_1", "relu_2"],
    "op:placeholder": ["x"],
    "op:output": ["output"],
    "op:get_attr": ["scale"],
    "op:call_method": ["relu_2", "relu_5"],
    "target:torch.relu": ["relu", "relu_3"],
    "target:torch.nn.functional.relu": ["relu_1", "relu_4"],
    "target:F.relu": ["relu_1", "relu_4"],
    "target:.relu": ["relu_2", "relu_5"],
    "target:layers.0.norm": ["layers_0_norm"],
    "target:*norm*": ["layers_0_norm", "layers_1_norm"],
    "target:LayerNorm": ["layers_0_norm", "layers_1_norm"],
    "target:torch.nn.Linear": ["layers_0_attn_proj", "layers_1_attn_proj"],
    "target:operator.add": ["add", "add_1", "add_2", "add_3"],
    "module:layers.0.attn": ["layers_0_attn_proj", "relu", "relu_1", "relu_2", "add"],
    "module:layers.*.attn.proj": ["layers_0_attn_proj", "layers_1_attn_proj"],
    "module:layers.*.attn op:call_method": ["relu_2", "relu_5"],
    "class:Attention target:add": ["add", "add_2"],
    "class:*Norm": ["layers_0_norm", "layers_1_norm"],
    "class:Layer !class:Attention": ["layers_0_norm", "add_1", "layers_1_norm", "add_3"],
    "!module:layers.0 !module:layers.1": ["x", "scale", "mul", "softmax", "output"],
    "graph:net op:output": ["output"],
    "graph:other": [],
    "graph:n*t x": ["x"],
    "/softmax\\(/": ["softmax"],
    "/= torch.relu\\(%layers_1/": ["relu_3"],
    "/dim=-1/ !op:output": ["softmax"],
    "!/./": [],
    "after:relu": ["relu"],
    "call_method": ["relu_2", "relu_5"],
    "torch.relu": ["relu", "relu_3"],
    "layers.0.norm": ["layers_0_norm"],
    "torch.soft*": ["softmax"],
    "nothing_here": [],
}


@pytest.mark.parametrize("text", TRACED)
def test_a_selector_selects_in_a_traced_graph(traced, text):
    assert selected(traced, text) == TRACED[text]


EXPORTED = {
    "target:aten.relu": [f"relu{s}" for s in ("", "_1", "_2", "_3", "_4", "_5")],
    "target:aten.relu.default module:layers.1": ["relu_3", "relu_4", "relu_5"],
    "target:aten.add.Tensor class:Attention": ["add", "add_2"],
    "target:aten.add class:Attention": ["add", "add_2"],
    "target:torch.ops.aten.softmax": ["softmax"],
    "aten.add": ["add", "add_1", "add_2", "add_3"],
    "aten.softmax.int": ["softmax"],
    "module:layers.0.attn.proj op:call_function": ["linear"],
    "module:layers.0.at": [],
    "class:Linear": ["linear", "linear_1"],
    "class:torch.nn.modules.normalization.LayerNorm": ["layer_norm", "layer_norm_1"],
}


@pytest.mark.parametrize("text", EXPORTED)
def test_a_selector_selects_in_an_exported_graph(exported, text):
    assert selected(exported, text) == EXPORTED[text]


def test_a_source_term_selects_the_nodes_of_a_line_by_short_or_full_path(traced, exported):
    line = Attention.forward.__code__.co_firstlineno + 2
    for program in (traced, exported):
        found = selected(program, f"source:test_selectors.py:{line}")
        assert len(found) == 6
        assert selected(program, f"source:engine/test_selectors.py:{line}") == found
        assert selected(program, f"source:{__file__}:{line}") == found
        assert selected(program, f"source:selectors.py:{line}") == []
        assert selected(program, f"source:test_selectors.py:{line + 500}") == []


MEANINGS = {
    "relu": "taken as node name 'relu': matches 1 node",
    "relu*": "taken as node name 'relu*': matches 6 nodes",
    "op:call_method": "matches 2 nodes",
    "call_method": "taken as opcode 'call_method': matches 2 nodes",
    "torch.relu": "taken as target 'torch.relu': matches 2 nodes",
    "!torch.relu module:layers.0.attn": "taken as not target 'torch.relu': matches 4 nodes",
}


@pytest.mark.parametrize("text", MEANINGS)
def test_the_answer_says_what_a_bare_term_was_taken_for(traced, text):
    verified, message = SelectorLocation(parse_selector(text)).describe([traced])
    assert verified
    assert message == MEANINGS[text]


def test_a_selector_without_a_match_says_what_was_tried(traced):
    assert SelectorLocation(parse_selector("nope")).describe([traced]) == (
        False,
        "tried as node name, opcode and target: 'nope' matches no node of net",
    )
    assert SelectorLocation(parse_selector("module:nope")).describe([traced]) == (
        False,
        "'module:nope' matches no node of net",
    )
    assert SelectorLocation(parse_selector("nope")).describe([]) == (
        False,
        "waiting for a graph to run",
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("after:relu", True),
        ("after: relu", True),
        ("after:op:output", True),
        ("after:/re lu/", True),
        ("!after:relu", True),
        ("relu after:op:call_function", True),
        ("relu", False),
        ("/after:/", False),
    ],
)
def test_after_may_stand_before_any_term(text, after):
    assert parse_selector(text).after is after


def test_after_before_a_negated_term_keeps_the_negation(traced):
    everything = selected(traced, "!nothing_here")
    assert selected(traced, "after:!x") == [name for name in everything if name != "x"]


ERRORS = {
    "": "empty selector",
    "   ": "empty selector",
    "after:": "empty selector",
    "!": "nothing to select in '!'",
    "op:": "'op:' needs a value, such as 'op:call_module'",
    "target:": "'target:' needs a value, such as 'target:aten.add'",
    "op:call": "unknown opcode 'call'; opcodes: placeholder, get_attr, call_function",
    "modul:layers.0": "unknown selector kind 'modul:' in 'modul:layers.0'; known: op:, target:",
    "relu opp:x": "unknown selector kind 'opp:'",
    "source:model.py": "source: needs FILE:LINE, got 'model.py'; such as 'source:model.py:42'",
    "source:42": "source: needs FILE:LINE",
    "/[/": r"bad regular expression /[/",
}


@pytest.mark.parametrize("text", ERRORS)
def test_a_selector_that_cannot_be_read_says_why_and_what_is_possible(text):
    with pytest.raises(SelectorError) as caught:
        parse_selector(text)
    assert ERRORS[text] in str(caught.value)


def test_a_regular_expression_may_hold_spaces_and_slashes(traced):
    assert selected(traced, r"/%mul = operator\.mul\(%add_3, %scale\)/") == ["mul"]
    assert selected(traced, r"/a\/b|soft max|%softmax =/") == ["softmax"]


def test_a_windows_path_is_part_of_a_source_term():
    term = parse_selector(r"source:C:\models\net.py:42").terms[0]
    assert (term.kind, term.value) == ("source", r"C:\models\net.py:42")


def test_selectors_work_on_the_gpt_sample():
    model = gpt.GPT(gpt.GPTConfig(blocks=2, width=8, heads=2, context=4))
    module = torch.export.export(model, (torch.arange(4).unsqueeze(0),)).module()
    program = _program(module, "gpt")
    assert len(selected(program, "module:blocks.*.attn target:aten.linear")) == 4
    assert selected(program, "aten.scaled_dot_product_attention module:blocks.1") == [
        "scaled_dot_product_attention_1"
    ]
