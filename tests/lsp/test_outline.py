"""The modules of a listing as a tree."""

from lsprotocol import types

from tests.lsp.conftest import Document


def tree(symbols, depth=0):
    for each in symbols:
        yield f"{'  ' * depth}{each.name} {each.detail or ''}".rstrip()
        yield from tree(each.children or (), depth + 1)


def test_the_outline_has_graphs_modules_and_nodes(listing):
    symbols = listing.about(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)

    lines = list(tree(symbols))
    assert [line for line in lines if "%" not in line or " in " in line] == [
        "Net",
        "  blocks.0 Block",
        "    blocks.0.norm LayerNorm",
        "  blocks.0 (call 2) Block",
        "true_graph_0 in %cond",
        "false_graph_0 in %cond",
    ]
    assert "    %relu f32[2, 16]" in lines
    assert "      %layer_norm f32[2, 16]" in lines
    assert "  %output" in lines


def test_a_symbol_holds_its_children(listing):
    def check(outer):
        for inner in outer.children or ():
            assert outer.range.start <= inner.range.start
            assert inner.range.end <= outer.range.end
            check(inner)

    for symbol in listing.about(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL):
        check(symbol)


def test_a_module_without_nodes_of_its_own_may_follow_its_inner_one(server):
    text = "# Net\n# a.b  B\n  %p = torch.relu(%x)\n# a  A\n  %q = torch.relu(%p)\n"
    document = Document(server, "order.fxgraph", text)

    (graph,) = document.about(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)

    assert list(tree([graph])) == ["Net", "  a A", "    %q", "    a.b B", "      %p"]


def test_many_inputs_in_a_row_are_one_symbol(server):
    inputs = "\n".join(f"  %p{number} = get_attr w{number}" for number in range(11))
    text = f"# Net\n  %x = placeholder\n{inputs}\n  %y = torch.relu(%x)\n"
    document = Document(server, "inputs.fxgraph", text)

    (graph,) = document.about(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)

    assert [each.name for each in graph.children] == ["%x", "attributes", "%y"]
    assert graph.children[1].detail == "11 nodes"
    assert [each.name for each in graph.children[1].children][::10] == ["%p0", "%p10"]


def test_a_remark_about_a_line_begins_no_module(server):
    text = "# Net\n# a  A\n  %p = torch.relu(%x)\n  # checks: the input\n  %q = torch.neg(%p)\n"
    document = Document(server, "remark.fxgraph", text)

    (graph,) = document.about(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)

    assert list(tree([graph])) == ["Net", "  a A", "    %p", "    %q"]


def test_a_large_graph_lists_its_modules_only(server):
    nodes = "\n".join(f"  %n{number} = torch.relu(%x)" for number in range(3000))
    document = Document(server, "large.fxgraph", f"# Net\n# a  A\n{nodes}\n")

    symbols = document.about(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)

    assert list(tree(symbols)) == ["Net", "  a A"]


def test_headers_and_nested_graphs_fold(listing):
    folds = listing.about(types.TEXT_DOCUMENT_FOLDING_RANGE)

    folded = {listing.lines[each.start_line].strip(): each.end_line for each in folds}
    assert folded["# Net"] == listing.line("%output")
    assert folded[listing.lines[listing.line("# blocks.0  Block ")].strip()] == listing.line("%mul")
    assert folded["# graph true_graph_0  in %cond"] == listing.line("true_graph_0/%output")


def test_what_runs_under_a_mode_folds(server):
    lines = ["# Net", "  # begin no_grad", "  %a = f()", "  # begin vmap over 3", "  %b = f(%a)"]
    lines += ["  # end vmap over 3", "  %c = f(%b)", "  # end no_grad", "  %d = f(%c)"]
    document = Document(server, "regions.fxgraph", "\n".join(lines))

    folds = document.about(types.TEXT_DOCUMENT_FOLDING_RANGE)

    assert {(each.start_line, each.end_line) for each in folds} == {(0, 8), (1, 7), (3, 5)}
