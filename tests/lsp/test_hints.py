"""What is shown between the lines and beside them: hints, inline values, lenses, tokens."""

from lsprotocol import types

from tests.lsp.client import Client
from tests.lsp.conftest import Document


def whole(document):
    return types.Range(types.Position(0, 0), types.Position(len(document.lines), 0))


def test_large_values_have_their_size_and_long_lived_ones_their_last_use(server):
    middle = "".join(f"  %n{number} = torch.relu(%x)\n" for number in range(20))
    text = (
        f"# Net\n  %x = placeholder\n  %big: f32[1000, 1000] = torch.exp(%x)\n{middle}"
        "  %y: f32[2] = torch.add(%big, %n19)\n  %z: f32[s0, 4] = torch.neg(%y)\n"
    )
    document = Document(server, "hints.fxgraph", text)

    hints = document.about(types.TEXT_DOCUMENT_INLAY_HINT, range=whole(document))

    shown = [
        (each.label, document.lines[each.position.line][: each.position.character].strip())
        for each in hints
    ]
    assert shown == [
        ("4 MB", "%big: f32[1000, 1000]"),
        ("last use", "%y: f32[2] = torch.add(%big"),
    ]


def test_inline_values_are_the_nodes_above_the_stop_in_its_graph(listing):
    def names(stop):
        line = listing.line(stop)
        where = types.Range(types.Position(line, 0), types.Position(line, 0))
        context = types.InlineValueContext(frame_id=1, stopped_location=where)
        found = listing.about(
            types.TEXT_DOCUMENT_INLINE_VALUE, range=whole(listing), context=context
        )
        return [(listing.written(each.range), each.expression) for each in found]

    assert names("%blocks_0_fc1") == [
        ("%x", "x"),
        ("%cache", "cache"),
        ("%scale", "scale"),
        ("%true_graph_0", "true_graph_0"),
        ("%false_graph_0", "false_graph_0"),
    ]
    assert names("true_graph_0/%output") == [
        ("true_graph_0/%arg0", "arg0"),
        ("true_graph_0/%add", "add"),
    ]


def test_lenses_stand_on_the_first_header_of_each_module(listing):
    lenses = listing.about(types.TEXT_DOCUMENT_CODE_LENS)

    block = listing.line("# blocks.0  Block")
    assert [
        (each.command.title, each.command.command, each.command.arguments)
        for each in lenses
        if each.range.start.line == block
    ] == [
        ("4 nodes, 512 B", "", None),
        ("Run to here", "fxdap.runToNode", ({"lineNumber": block + 2},)),
        ("Break on all", "fxdap.breakOn", ("module:blocks.0",)),
    ]
    second = listing.lines.index(next(line for line in listing.lines if "net.py:20" in line))
    assert all(each.range.start.line != second for each in lenses)


def test_a_client_without_the_commands_sees_how_much_there_is(tmp_path):
    with Client(tmp_path) as client:
        document = Document(client, "net.fxgraph", "# Net\n  %x: f32[2] = torch.ones(2)\n")
        lenses = document.about(types.TEXT_DOCUMENT_CODE_LENS)

    assert [(each.command.title, each.command.command) for each in lenses] == [("1 node, 8 B", "")]


def decode(document, tokens, legend):
    line = column = 0
    for at in range(0, len(tokens.data), 5):
        down, right, length, kind, bits = tokens.data[at : at + 5]
        line, column = line + down, right if down else column + right
        names = [name for bit, name in enumerate(legend.token_modifiers) if bits >> bit & 1]
        text = document.lines[line][column : column + length]
        yield line, text, legend.token_types[kind], " ".join(names)


TOKENS = """# Net
  %x: f32[4] = placeholder
  %w: f32[4] = get_attr w
  %count: i64[] = get_attr norm.num_batches_tracked
  %a = torch.relu(%x)
  %dead = torch.neg(%a)
  %add_ = aten.add_.Tensor(%a, %w)
  %output = return (%add_, %count)
"""


def test_tokens_tell_inputs_parameters_buffers_dead_and_mutated_values(server):
    document = Document(server, "tokens.fxgraph", TOKENS)
    legend = server.initialized.capabilities.semantic_tokens_provider.legend

    tokens = document.about(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)

    found = list(decode(document, tokens, legend))
    assert [each[1:] for each in found if "definition" in each[3]] == [
        ("%x", "parameter", "definition"),
        ("%w", "property", "definition"),
        ("%count", "property", "definition buffer"),
        ("%a", "variable", "definition mutated"),
        ("%dead", "variable", "definition dead"),
        ("%add_", "variable", "definition"),
        ("%output", "variable", "definition"),
    ]
    assert (6, "%a", "variable", "mutated") in found
    assert (6, "%w", "property", "") in found


def test_tokens_of_a_range_are_those_of_its_lines(server):
    document = Document(server, "tokens2.fxgraph", TOKENS)
    legend = server.initialized.capabilities.semantic_tokens_provider.legend
    where = types.Range(types.Position(4, 0), types.Position(5, 3))

    part = document.about(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, range=where)

    whole = document.about(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
    assert list(decode(document, part, legend)) == [
        each for each in decode(document, whole, legend) if each[0] in (4, 5)
    ]
