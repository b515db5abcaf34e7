"""Selectors on a listing that nobody runs: what they match, and how they may go on."""

import pytest

from fxdap.lsp.listing.model import Listing
from fxdap.lsp.listing.selectors import select
from tests.lsp.conftest import DATA

MATCHES = [
    ("relu", "relu"),
    ("blocks_0_*", "blocks_0_fc1 blocks_0_fc1_1"),
    ("call_method", "chunk"),
    ("torch.relu", "relu"),
    ("op:get_attr", "scale true_graph_0 false_graph_0"),
    ("target:aten.mul", "mul"),
    ("target:aten.mul.Tensor", "mul"),
    ("target:*norm*", "layer_norm"),
    ("target:chunk", "chunk"),
    ("module:blocks.*", "blocks_0_fc1 relu mul layer_norm blocks_0_fc1_1"),
    ("module:blocks.0.norm", "layer_norm"),
    ("class:Linear", "blocks_0_fc1"),
    ("target:torch.nn.Linear", "blocks_0_fc1"),
    ("class:Block", "blocks_0_fc1 relu mul layer_norm blocks_0_fc1_1"),
    ("source:net.py:8", "relu mul"),
    ("source:/home/me/net.py:8", "relu mul"),
    ("/layer_norm, 2, -1/", "chunk"),
    ("after:relu", "relu"),
    ("module:blocks.0 !target:torch.relu !class:LayerNorm", "blocks_0_fc1 mul blocks_0_fc1_1"),
    ("nothing", ""),
    ("", ""),
]


@pytest.mark.parametrize(("selector", "names"), MATCHES)
def test_it_selects(selector, names):
    listing = Listing((DATA / "listing.fxgraph").read_text())

    assert [node.text.name for node in select(listing, selector)] == names.split()


def ask(listing, selector):
    params = {"uri": listing.uri, "selector": selector}
    return listing.client.request("fxdap/matchSelector", params)


def test_the_answer_counts_and_shows_the_nodes(listing):
    assert ask(listing, "source:net.py:8") == [
        {
            "label": "Break on source:net.py:8",
            "description": "matches 2 nodes of this listing",
            "selector": "source:net.py:8",
        },
        {"label": "%relu: f32[2, 16] = torch.relu(%blocks_0_fc1)", "selector": "relu"},
        {"label": "%mul: f32[2, 16] = aten.mul.Tensor(%relu, %scale)", "selector": "mul"},
    ]
    assert ask(listing, "/(/")[0]["description"].startswith("bad regular expression: ")


@pytest.mark.parametrize(
    ("selector", "completions"),
    [
        ("target:aten.g", ["target:aten.gt.Scalar"]),
        ("op:call_m", ["op:call_method", "op:call_module"]),
        ("relu !module:", ["relu !module:blocks.0", "relu !module:blocks.0.norm"]),
        ("class:L", ["class:LayerNorm", "class:Linear"]),
        ("relu", []),
    ],
)
def test_the_answer_says_how_the_last_word_may_go_on(listing, selector, completions):
    offered = [choice["example"] for choice in ask(listing, selector) if "example" in choice]

    assert offered == completions


def test_nothing_typed_is_answered_with_examples(listing):
    first = ask(listing, "")[0]

    assert first == {"label": "relu*", "description": "node name or pattern", "example": "relu*"}


def test_without_a_listing_the_selector_is_offered_as_it_is(server):
    assert server.request("fxdap/matchSelector", {"selector": "relu "}) == [
        {
            "label": "Break on relu",
            "description": "matches are counted once a session runs",
            "selector": "relu",
        }
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%mul:", {"node": "mul", "selector": "target:aten.mul"}),
        ("%chunk:", {"node": "chunk", "selector": "target:.chunk"}),
        ("%relu:", {"node": "relu", "selector": "target:torch.relu"}),
        ("%blocks_0_fc1:", {"node": "blocks_0_fc1", "selector": "target:blocks.0.fc1"}),
        ("%scale", {"node": "scale", "selector": "op:get_attr"}),
        ("%output", {"node": "output", "selector": "op:output"}),
        ("# blocks.0", None),
    ],
)
def test_a_line_has_a_node_and_a_selector_for_all_that_call_the_same(listing, line, found):
    params = {"uri": listing.uri, "line": listing.line(line)}

    assert listing.client.request("fxdap/nodeAt", params) == found
