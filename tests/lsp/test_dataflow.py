"""Call hierarchy as dataflow, completion, and symbols of the workspace."""

from lsprotocol import types

from tests.lsp.client import Client
from tests.lsp.conftest import Document

TEXT = "# Net\n  %x = placeholder\n# a  A\n  %p = torch.relu(%x)\n  %q = torch.add(%p, %p)\n"


def test_producers_are_incoming_and_users_outgoing(listing):
    (item,) = listing.at(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, "%layer_norm")
    ask = listing.client.request

    incoming = ask(
        types.CALL_HIERARCHY_INCOMING_CALLS, types.CallHierarchyIncomingCallsParams(item)
    )
    outgoing = ask(
        types.CALL_HIERARCHY_OUTGOING_CALLS, types.CallHierarchyOutgoingCallsParams(item)
    )

    assert (item.name, item.detail) == (
        "%layer_norm",
        "f32[2, 16] torch.nn.functional.layer_norm",
    )
    assert [each.from_.name for each in incoming] == ["%mul"]
    assert [each.to.name for each in outgoing] == ["%chunk", "%cond"]
    assert [listing.written(each.from_ranges[0]) for each in outgoing] == ["%layer_norm"] * 2


def test_completion_offers_the_names_above_nearest_first(server):
    document = Document(server, "complete.fxgraph", f"{TEXT}  %r = torch.add(%\n  %s = f()\n")
    line = document.line("%r")

    found = server.at(types.TEXT_DOCUMENT_COMPLETION, document.uri, line, len(document.lines[line]))

    assert [each.label for each in found.items] == ["%q", "%p", "%x"]
    assert not found.is_incomplete


def test_completion_goes_by_what_was_typed_and_by_the_graph(server):
    text = TEXT + "  # graph sub  in %q\n    sub/%pin = placeholder\n    sub/%y = torch.relu(%p\n"
    document = Document(server, "complete2.fxgraph", text)
    line = document.line("sub/%y")

    found = server.at(types.TEXT_DOCUMENT_COMPLETION, document.uri, line, len(document.lines[line]))

    assert [(each.label, each.text_edit.new_text) for each in found.items] == [("%pin", "%pin")]


def test_workspace_symbols_are_those_of_open_and_of_written_listings(tmp_path):
    graphs = tmp_path / ".fxdap" / "graphs"
    graphs.mkdir(parents=True)
    (graphs / "Stored.fxgraph").write_text(TEXT.replace("# Net", "# Stored").replace("%q", "%qq"))

    with Client(tmp_path) as client:
        Document(client, "net.fxgraph", TEXT)

        def ask(query):
            found = client.request(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams(query))
            return [
                (each.name, each.container_name, each.location.range.start.line) for each in found
            ]

        assert ask("%q") == [("%q", "Net", 4), ("%qq", "Stored", 4)]
        assert ask("a") == [("a", "Net", 2), ("a", "Stored", 2)]
