"""What hovering over a node, a target or a header says."""

import pytest
from lsprotocol import types

from tests.lsp.client import Client
from tests.lsp.conftest import Document


def hover(document, start, word=""):
    found = document.at(types.TEXT_DOCUMENT_HOVER, start, word)
    return found.contents.value.split("\n\n") if found is not None else None


def test_a_node_says_its_type_call_module_producers_and_users(listing):
    assert hover(listing, "%mul") == [
        "**`%mul`**: `f32[2, 16]`, 128 B",
        "call_function `aten.mul.Tensor`",
        "in `blocks.0` (Block) · `net.py:8` `h = torch.relu(h) * self.scale`",
        "reads `%relu` `f32[2, 16]`, `%scale` `f32[16]`",
        "read by `%layer_norm`",
    ]


def test_a_use_says_the_same_as_the_definition(listing):
    assert hover(listing, "%layer_norm", "%mul") == hover(listing, "%mul")


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ("%x", "placeholder"),
        ("%scale", "get_attr `blocks.0.scale` (parameter, buffer or constant)"),
        ("%blocks_0_fc1", "call_module `blocks.0.fc1` (Linear)"),
        ("%output", "output"),
    ],
)
def test_every_opcode_is_named(listing, start, line):
    assert hover(listing, start)[1] == line


def test_a_header_says_how_much_is_below_it(listing):
    assert hover(listing, "# blocks.0  Block") == [
        "**`blocks.0`** `Block`",
        "4 nodes, 512 B",
        "`net.py:7`",
    ]
    assert hover(listing, "# graph true_graph_0") == [
        "**`true_graph_0`**",
        "3 nodes, 128 B",
        "runs in `%cond`",
    ]


def test_memory_is_counted_once_and_views_say_whose_they_show(server):
    text = (
        "# Net\n  %x: f32[4, 4] = placeholder\n  %y: f32[4, 4] = torch.relu(%x)\n"
        "  %v: f32[16] = .view(%y, 16)\n  %w: f32[16] = .mul_(%v, 2)\n"
    )
    document = Document(server, "views.fxgraph", text)

    assert hover(document, "# Net")[1] == "4 nodes, 64 B"
    assert hover(document, "%w")[0] == "**`%w`**: `f32[16]`, 64 B, storage of `%y`"


def test_targets_link_to_their_documentation_at_once_where_the_name_tells(listing):
    (text,) = hover(listing, "%getitem", "operator.getitem")
    # The signature follows in a server that has heard from torch by now.
    assert text.splitlines()[0] == (
        "call_function `operator.getitem` · [documentation]"
        "(https://docs.python.org/3/library/operator.html#operator.getitem)"
    )


def test_there_is_no_hover_beside_names(listing):
    assert hover(listing, "%chunk", "2,") is None


def test_source_lines_of_the_workspace_are_links(tmp_path):
    (tmp_path / "net.py").write_text("\n" * 7 + "        h = torch.relu(h) * self.scale\n")
    text = "# Net\n  # net.py:8  h = torch.relu(h) * self.scale\n  %relu = torch.relu(%x)\n"
    with Client(tmp_path) as client:
        document = Document(client, "net.fxgraph", text)
        links = document.about(types.TEXT_DOCUMENT_DOCUMENT_LINK)
        lines = hover(document, "%relu")
        definition = document.at(types.TEXT_DOCUMENT_DEFINITION, "# net.py")

    uri = (tmp_path / "net.py").as_uri()
    assert [(document.written(each.range), each.target) for each in links] == [
        ("net.py:8", f"{uri}#L8")
    ]
    assert lines[2] == f"[net.py:8]({uri}#L8) `h = torch.relu(h) * self.scale`"
    assert (definition.uri, definition.range.start.line) == (uri, 7)


def test_of_two_files_the_one_with_that_code_is_meant(tmp_path):
    for name, code in (("a", "x = 1"), ("b", "h = torch.relu(h)")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.py").write_text(f"{code}\n")
    text = (
        "# Net\n  # net.py:1  h = torch.relu(h)\n  %relu = torch.relu(%x)\n# a  A      net.py:1\n"
    )
    with Client(tmp_path) as client:
        document = Document(client, "net.fxgraph", text)
        found = document.at(types.TEXT_DOCUMENT_DEFINITION, "# net.py")
        unsure = document.at(types.TEXT_DOCUMENT_DEFINITION, "# a")

    assert found.uri == (tmp_path / "b" / "net.py").as_uri()
    assert unsure is None


@pytest.mark.parametrize("place", [".fxdap/graphs/net.fxgraph", "net.fxgraph"])
def test_without_a_workspace_sources_are_found_around_the_listing(tmp_path, place):
    (tmp_path / "net.py").write_text("class Net: ...\n")
    text = "# Net                                               net.py:1\n  %x = placeholder\n"
    with Client(tmp_path, workspace=False) as client:
        uri = client.open(tmp_path / place, text)
        (link,) = client.about(types.TEXT_DOCUMENT_DOCUMENT_LINK, uri)

    assert link.target == f"{(tmp_path / 'net.py').as_uri()}#L1"
