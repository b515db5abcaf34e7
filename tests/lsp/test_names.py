"""Where a node is defined and read."""

import pytest
from lsprotocol import types


def references(document, start, word="", declaration=False):
    context = types.ReferenceContext(include_declaration=declaration)
    found = document.at(types.TEXT_DOCUMENT_REFERENCES, start, word, context=context)
    return [(each.range.start.line, document.written(each.range)) for each in found]


@pytest.mark.parametrize("word", ["", "%layer_norm"])
def test_references_are_the_arguments_that_read_a_node(listing, word):
    start = "%chunk" if word else "%layer_norm"

    found = references(listing, start, word)

    readers = [listing.line("%chunk"), listing.line("%cond")]
    assert found == [(line, "%layer_norm") for line in readers]


def test_references_begin_with_the_definition_where_that_is_wanted(listing):
    found = references(listing, "%mul", "%relu", declaration=True)

    assert found == [(listing.line("%relu"), "%relu"), (listing.line("%mul"), "%relu")]


def test_a_name_in_a_string_is_no_reference(listing):
    assert references(listing, "%x") == [(listing.line("%blocks_0_fc1"), "%x")]


def test_names_of_nested_graphs_are_their_own(listing):
    found = references(listing, "true_graph_0/%arg0", declaration=True)

    assert found == [
        (listing.line("true_graph_0/%arg0"), "true_graph_0/%arg0"),
        (listing.line("true_graph_0/%add"), "%arg0"),
    ]


def test_highlight_tells_the_write_from_the_reads(listing):
    found = listing.at(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "%mul", "%scale")

    assert [(listing.written(each.range), each.kind) for each in found] == [
        ("%scale", types.DocumentHighlightKind.Write),
        ("%scale", types.DocumentHighlightKind.Read),
    ]


def test_there_is_nothing_beside_all_names(listing):
    assert references(listing, "# Net") == []
    assert references(listing, "%chunk", "2,") == []
