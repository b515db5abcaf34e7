"""Hovering: names in the listing, and names in the model's source."""

from pathlib import Path

import pytest

from fxdap.wire.client import RequestFailed
from tests.dialogue.conftest import Connect
from tests.dialogue.dialogue import Dialogue


def hover(dialogue: Dialogue, word: str, line: int, column: int, file: str = "") -> str:
    source = {"path": file or str(dialogue.folder / "mlp.py")}
    body = dialogue.client.request(
        "evaluate",
        {
            "expression": word,
            "frameId": dialogue.frame,
            "context": "hover",
            "source": source,
            "line": line,
            "column": column,
        },
    )
    return str(body.result)


def test_a_name_in_the_source_shows_the_value_it_got_when_that_is_sure(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("linear_2", graph="mlp.py:MLP", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "linear_2")
    lines = (dialogue.folder / "mlp.py").read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "hidden = torch.relu" in text)
    column = lines[line - 1].index("hidden") + 1
    assert hover(dialogue, "hidden", line, column) == dialogue.value("relu")
    remote = f"vscode-remote://ssh-remote+host{dialogue.folder / 'mlp.py'}"
    assert hover(dialogue, "hidden", line, column, remote) == dialogue.value("relu")
    for word, at in (("hidden", line + 1), ("softmax", line), ("self", line)):
        with pytest.raises(RequestFailed):
            hover(dialogue, word, at, column)


def test_a_hover_runs_no_code_and_in_a_listing_reads_only_nodes(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("linear_2", graph="mlp.py:MLP", stopOnEntry=False)
    dialogue.stopped("function breakpoint")
    assert dialogue.evaluate("%relu", "hover").result == dialogue.value("relu")
    assert dialogue.evaluate("relu.shape", "hover").result == "torch.Size([2, 16])"
    with pytest.raises(RequestFailed, match="names, attributes and items only"):
        dialogue.evaluate("relu.zero_()", "hover")
    assert dialogue.value("bool(relu.any())") == "True"
    source = dialogue.stack()[0].source
    assert source is not None
    listing = str(source.path)
    lines = Path(listing).read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "aten.relu.default(%linear)" in text)
    text = lines[line - 1]
    column = text.index("%linear") + 2
    assert hover(dialogue, "linear", line, column, listing) == dialogue.value("linear")
    for word in ("aten", "aten.relu"):  # for the language server, which knows what it does
        with pytest.raises(RequestFailed, match="only the names of nodes"):
            hover(dialogue, word, line, text.index(word) + 1, listing)
