"""What the server gives in a Python file."""

import pytest
from lsprotocol import types

from tests.lsp.client import Client
from tests.lsp.conftest import Document

SOURCE = """\
import torch
from torch import fx


class Recorder(fx.Interpreter):
    def run_node(self, n):
        super().run_node(n)

    def map_nodes_to_values(self, node, value):
        self.seen[node] = value


class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu()


def example_inputs():
    return (torch.ones(2),)


def wide():
    return Net()


def run(gm):
    return fx.Interpreter(gm).run(x=gm)
"""


@pytest.fixture(scope="module")
def python(server: Client) -> Document:
    return Document(server, "user.py", SOURCE, language="python")


def hover_text(document, start, word):
    hover = document.at(types.TEXT_DOCUMENT_HOVER, start, word)
    return hover and hover.contents.value


def test_faults_are_diagnosed_where_they_stand(server, python):
    found = server.diagnostics_of(python.uri, 1)

    assert [(each.code, python.written(each.range)) for each in found] == [
        ("missing-return", "run_node"),
        ("override-signature", "map_nodes_to_values"),
        ("run-keyword", "x"),
    ]
    assert {each.source for each in found} == {"fxdap"}


def test_a_fault_comes_with_its_fix(python):
    line = python.line("super().run_node(n)")
    (action,) = python.about(
        types.TEXT_DOCUMENT_CODE_ACTION,
        range=types.Range(types.Position(line - 1, 8), types.Position(line - 1, 10)),
        context=types.CodeActionContext(diagnostics=[]),
    )

    assert action.title == "Return the value"
    (edit,) = action.edit.changes[python.uri]
    assert (edit.new_text, edit.range.start) == ("return ", types.Position(line, 8))


def test_hover_tells_what_torch_calls_an_override_with(python):
    text = hover_text(python, "def map_nodes_to_values", "map_nodes_to_values")

    assert text.startswith(
        "```python\ntorch.fx.Interpreter.map_nodes_to_values(self, args, n)\n```"
    )
    assert "it is not told a node's result" in text


def test_hover_knows_the_methods_of_super(python):
    text = hover_text(python, "super().run_node(n)", "run_node")
    assert "What it returns is stored as `env[n]`" in text


def test_hover_has_nothing_to_say_of_other_names(python):
    assert hover_text(python, "def forward", "forward") is None


def test_a_lens_stands_above_what_can_be_debugged(python):
    lenses = python.about(types.TEXT_DOCUMENT_CODE_LENS)

    assert [(each.range.start.line, each.command.title) for each in lenses] == [
        (python.line("class Net"), "Debug FX Graph"),
        (python.line("def wide"), "Debug FX Graph"),
    ]
    assert lenses[0].command.command == "fxdap.debugTarget"
    assert lenses[0].command.arguments == (python.uri, "Net")


def test_half_written_code_has_no_diagnostics(server):
    broken = Document(server, "broken.py", SOURCE + "\ndef (", language="python")
    assert server.diagnostics_of(broken.uri, 1) == []


def test_a_huge_file_is_not_looked_at(server):
    huge = Document(server, "huge.py", SOURCE + "# \n" * 200_000, language="python")
    assert server.diagnostics_of(huge.uri, 1) == []


def test_a_form_feed_ends_no_line(server):
    paged = Document(server, "paged.py", SOURCE.replace("\n\n\n", "\n\n\x0c\n"), language="python")
    found = server.diagnostics_of(paged.uri, 1)

    assert [paged.written(each.range) for each in found] == ["run_node", "map_nodes_to_values", "x"]
