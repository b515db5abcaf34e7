"""Diagnostics: each check finds what it is for, and stays quiet where it cannot be sure."""

import pytest
from lsprotocol import types

from tests.lsp.conftest import Document

HEAD = """# Net
  %x: f32[2, 16] = placeholder
  %y: f32[16, 2] = placeholder
  %h: f16[2, 16] = placeholder
  %s: f32[s0, 16] = placeholder
"""
TAIL = "  %output = return ({},)\n"


@pytest.fixture
def check(server, request):
    count = 0

    def run(body: str, result: str):
        nonlocal count
        count += 1
        text = HEAD + "".join(f"  {line}\n" for line in body.split("\n")) + TAIL.format(result)
        document = Document(server, f"{request.node.name}-{count}.fxgraph", text)
        return document, server.diagnostics_of(document.uri, 1)

    return run


FOUND = [
    ("%a = torch.add(%x, %nothing)", "%a", "undefined", "%nothing"),
    ("%a = torch.add(%x, %b)\n%b = torch.relu(%x)", "%a, %b", "order", "%b"),
    ("%a = torch.relu(%x)\n%a = torch.neg(%x)", "%a", "duplicate", "%a"),
    ("%a = torch.relu(%x)", "%x", "dead", "%a"),
    ("%a = get_attr weight", "%x", "dead", "%a"),
    ("%a = aten.add.Tensor(%x, %y)", "%a", "shape", "%x, %y"),
    ("%a = .mul(%x, %y)", "%a", "shape", "%x, %y"),
    ("%a = aten.mm.default(%x, %x)", "%a", "shape", "%x, %x"),
    ("%a = aten.linear.default(%x, %y)", "%a", "shape", "%x, %y"),
    ("%a: f32[2, 17] = aten.relu.default(%x)", "%a", "type", "f32[2, 17]"),
    ("%a: f64[2, 16] = aten.add.Tensor(%x, %x)", "%a", "type", "f64[2, 16]"),
    ("%a: f32[2, 16] = aten.gt.Tensor(%x, %x)", "%a", "type", "f32[2, 16]"),
    ("%a = torch.zeros(2, device=cuda:0)", "%a", "device", "cuda:0"),
    ("%a = .to(%x, 'cuda')", "%a", "device", "cuda"),
    ("%a = aten.arange.default(4, device=cpu, pin_memory=False)", "%a", "device", "cpu"),
    ("%v = .view(%x, 32)\n%a = .add_(%x, 1)", "%v, %a", "mutation", "%a"),
    (
        "%c = .chunk(%x, 2)\n%v = operator.getitem(%c, 0)\n%a = .zero_(%v)",
        "%x, %a",
        "mutation",
        "%a",
    ),
]


@pytest.mark.parametrize(("body", "result", "code", "where"), FOUND)
def test_it_finds(check, body, result, code, where):
    document, found = check(body, result)

    assert [(each.code, document.written(each.range)) for each in found] == [(code, where)]


QUIET = [
    ("%a = aten.add.Tensor(%x, %s)", "%a"),
    ("%a: f32[2, 16] = aten.add.Tensor(%x, %h)", "%a"),
    ("%a: f32[2, 16] = aten.exp.default(%h)", "%a"),
    ("%a: f32[4] = torch.sum(%x)", "%a"),
    ("%a = model.relu(%x, %y)", "%a"),
    ("%a = blocks.0.norm(%x)", "%x"),
    ("%a = torch.batch_norm(%x)", "%x"),
    ("%a = .add_(%x, 1)", "%x"),
    ("%a = torch._assert(%x, 'message')", "%x"),
    ("%d = getattr(%x, 'device')\n%a = torch.zeros(2, device=%d)", "%a"),
    ("%a = .add_(%x, 1)\n%v = .view(%a, 32)", "%v"),
    ("%v = .view(%x, 32)\n%b = torch.neg(%v)\n%a = .add_(%x, 1)", "%b, %a"),
    ("%p = aten.select.int(%x, 0, 1)\n%a = aten.fill_.Scalar(%p, 1)", "%x, %a"),
    ("%a = f('%nothing', %x)", "%a"),
]


@pytest.mark.parametrize(("body", "result"), QUIET)
def test_it_is_quiet_about(check, body, result):
    assert check(body, result)[1] == []


def test_dead_nodes_fade_and_the_host_is_a_mere_hint(check):
    _, found = check("%a = torch.relu(%x)\n%b = torch.zeros(2, device=cpu)", "%b")

    assert [(each.severity, each.tags) for each in found] == [
        (types.DiagnosticSeverity.Hint, (types.DiagnosticTag.Unnecessary,)),
        (types.DiagnosticSeverity.Hint, None),
    ]


def test_a_write_names_the_other_value_and_who_reads_it(check):
    document, (found,) = check("%v = .view(%x, 32)\n%a = .add_(%x, 1)", "%v, %a")

    assert found.message == (
        "%a writes into %x in place. %v shows the same storage and is read later, by %output."
    )
    assert [document.written(each.location.range) for each in found.related_information] == [
        "%v",
        "%output",
    ]


def actions(server, document, found):
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(document.uri),
        found.range,
        types.CodeActionContext(diagnostics=[found]),
    )
    # lsprotocol reads a code action that has a command as the command alone.
    return server.request(types.TEXT_DOCUMENT_CODE_ACTION, params, raw=True)


def test_an_undefined_name_can_be_replaced_by_the_nearest(check, server):
    document, (found,) = check("%relu_1 = torch.relu(%x)\n%a = torch.add(%relu1, %relu_1)", "%a")

    (action,) = actions(server, document, found)

    assert action["title"] == "Read %relu_1 instead"
    (edit,) = action["edit"]["changes"][document.uri]
    assert edit["range"]["start"]["character"] == found.range.start.character
    assert edit["newText"] == "%relu_1"


def test_what_deserves_a_look_can_be_stopped_at(check, server):
    document, (found,) = check("%v = .view(%x, 32)\n%add_ = .add_(%x, 1)", "%v, %add_")

    (action,) = actions(server, document, found)

    assert (action["title"], action["kind"]) == ("Break after %add_", "quickfix")
    assert action["command"]["command"] == "fxdap.breakOn"
    assert action["command"]["arguments"] == ["after:add_"]


def test_an_edit_is_checked_when_typing_pauses(check, server):
    document, found = check("%a = torch.add(%x, %nothing)", "%a")
    assert len(found) == 1
    line = document.line("%a")
    at = document.lines[line].index("%nothing")
    where = types.Range(types.Position(line, at), types.Position(line, at + len("%nothing")))

    server.change(document.uri, 2, types.TextDocumentContentChangePartial(range=where, text="%x"))

    assert server.diagnostics_of(document.uri, 2) == []
