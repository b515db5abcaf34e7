"""Text that is no listing, and edits anywhere: requests are answered as for a fresh document."""

import contextlib
import random

import pytest
from lsprotocol import types

from fxdap.lsp.listing.checks import node_findings
from fxdap.lsp.listing.facts import storage_of
from fxdap.lsp.listing.model import Listing
from tests.lsp.client import LspError
from tests.lsp.conftest import DATA, Document

TEXT = (DATA / "listing.fxgraph").read_text()
PIECES = [
    *"%#=:()[]{}'\",./\\ \n\r\t",
    "%x",
    "%",
    "  %y: f32[2] = ",
    "# graph a  in %b",
    "# ",
    "a.b/%c = return (%c,)",
    "\U0001d54f\U0001f600",
    "\r\n",
    "\x00",
    "\u2028",
    "\x0c",
    "f32[1, ((",
    "device=cuda:0",
]
AT_POSITION = [
    types.TEXT_DOCUMENT_HOVER,
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
    types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
    types.TEXT_DOCUMENT_COMPLETION,
]
ABOUT_DOCUMENT = [
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
    types.TEXT_DOCUMENT_FOLDING_RANGE,
    types.TEXT_DOCUMENT_CODE_LENS,
    types.TEXT_DOCUMENT_DOCUMENT_LINK,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
]


def damaged(seed: int) -> str:
    """A listing that was cut, overwritten and sprinkled with what does not belong there."""
    chance = random.Random(seed)
    text = TEXT[: chance.randrange(len(TEXT))] if chance.random() < 0.5 else TEXT
    for _ in range(chance.randrange(40)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 0, 3, 30)) :]
    return text


@pytest.mark.parametrize("part", range(4))
def test_any_text_can_be_read(part):
    for seed in range(part * 100, part * 100 + 100):
        listing = Listing(damaged(seed))
        storage_of(listing).groups()
        for node in listing.nodes:
            for found in node_findings(listing, node):
                assert 0 <= found.start <= found.end <= len(listing.lines[found.line])


def ask_everything(document, chance):
    lines = len(document.lines)
    answers = []
    for method in AT_POSITION:
        line, column = chance.randrange(lines + 2), chance.randrange(60)
        answers.append(document.client.at(method, document.uri, line, column))
    answers += [document.about(method) for method in ABOUT_DOCUMENT]
    where = types.Range(types.Position(0, 0), types.Position(lines + 5, 0))
    answers.append(document.about(types.TEXT_DOCUMENT_INLAY_HINT, range=where))
    return answers


@pytest.mark.parametrize("seed", range(5))
def test_every_request_is_answered_about_any_text(server, seed):
    document = Document(server, f"damaged-{seed}.fxgraph", damaged(seed))

    ask_everything(document, random.Random(seed))

    server.diagnostics_of(document.uri, 1)


def test_a_binary_document_is_answered(server):
    data = random.Random(0).randbytes(200_000).decode("latin-1")
    document = Document(server, "binary.fxgraph", data.replace("\r", ""))

    ask_everything(document, random.Random(0))


def test_five_megabytes_are_answered(server):
    body = TEXT.split("\n", 1)[1]
    text = "# Net\n" + body * (5_000_000 // len(body))
    document = Document(server, "long.fxgraph", text)

    last = len(document.lines)
    where = types.Range(types.Position(last - 30, 0), types.Position(last, 0))
    tokens = document.about(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, range=where)
    found = server.at(types.TEXT_DOCUMENT_HOVER, document.uri, document.line("%relu"), 4)

    assert tokens.data
    assert "`torch.relu`" in found.contents.value
    server.notify(
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(document.uri)),
    )


@pytest.mark.parametrize("seed", range(3))
def test_after_edits_answers_are_those_for_a_fresh_document(server, seed):
    chance = random.Random(seed)
    text = TEXT.replace("note", "n\U0001d54fte")
    edited = Document(server, f"edited-{seed}.fxgraph", text)
    pieces = [piece for piece in PIECES if "\r" not in piece]
    for version in range(2, 22):
        text, change = edit(text, chance, pieces)
        server.change(edited.uri, version, change)
        if version % 5 == 0:
            server.at(types.TEXT_DOCUMENT_HOVER, edited.uri, chance.randrange(20), 4)
    fresh = Document(server, f"fresh-{seed}.fxgraph", text)

    for method in ABOUT_DOCUMENT:
        assert edited.about(method) == fresh.about(method), method


def edit(text, chance, pieces):
    """Replace a stretch of one line; columns are UTF-16, as the client counts."""
    lines = text.split("\n")
    number = chance.randrange(len(lines))
    line = lines[number]
    start = chance.randrange(len(line) + 1)
    end = min(len(line), start + chance.choice((0, 0, 1, 5)))
    piece = chance.choice(pieces)
    where = types.Range(
        types.Position(number, units(line[:start])), types.Position(number, units(line[:end]))
    )
    lines[number] = line[:start] + piece + line[end:]
    return "\n".join(lines), types.TextDocumentContentChangePartial(range=where, text=piece)


def units(text):
    return len(text.encode("utf-16-le")) // 2


def test_cancelled_requests_end_and_the_server_goes_on(server):
    document = Document(server, "cancelled.fxgraph", TEXT * 200)
    method = types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(document.uri))
    sent = [server.send(method, params) for _ in range(20)]
    for number in sent:
        server.notify(types.CANCEL_REQUEST, types.CancelParams(number))

    for number in sent:
        # Which of them were still waiting is a matter of speed.
        with contextlib.suppress(LspError):
            server.answer(number, method)

    assert document.at(types.TEXT_DOCUMENT_HOVER, "%relu") is not None
