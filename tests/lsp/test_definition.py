"""Where names, targets and headers lead."""

import pytest
from lsprotocol import types

from tests.lsp.client import Client
from tests.lsp.conftest import Document


@pytest.mark.parametrize(
    ("start", "word", "leads_to"),
    [
        ("%mul", "%relu", "%relu"),
        ("%mul", "", "%mul"),
        ("true_graph_0/%output", "%add", "true_graph_0/%add"),
        ("%true_graph_0", "true_graph_0", "# graph true_graph_0"),
    ],
)
def test_names_lead_to_their_lines(listing, start, word, leads_to):
    found = listing.at(types.TEXT_DOCUMENT_DEFINITION, start, word)

    assert found.uri == listing.uri
    assert found.range.start.line == listing.line(leads_to)


def test_a_nested_graph_leads_to_the_node_that_runs_it(listing):
    line = listing.line("# graph true_graph_0")
    column = listing.lines[line].index("%cond") + 1

    found = listing.client.at(types.TEXT_DOCUMENT_DEFINITION, listing.uri, line, column)

    assert listing.written(found.range) == "%cond"


def test_a_function_of_the_user_leads_to_its_def_without_running_it(tmp_path):
    (tmp_path / "model.py").write_text("raise SystemExit\n\n\ndef helper(x):\n    return x\n")
    text = "# Net\n  %x = placeholder\n  %helper = model.helper(%x)\n"
    with Client(tmp_path) as client:
        document = Document(client, "net.fxgraph", text)
        found = document.at(types.TEXT_DOCUMENT_DEFINITION, "%helper", "model.helper")

    assert found.uri == (tmp_path / "model.py").as_uri()
    assert found.range.start.line == 3
