"""Reading listings back."""

import subprocess
import sys

import pytest

from fxdap.view.listing_text import names_by_line, node_on_line, qualified_name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("  %relu: f32[2] = torch.relu(%x)", "relu"),
        ("%relu = torch.relu(%x)", "relu"),
        ("    cond.true/%add_1: f32[2] = aten.add.Tensor(%x, 1)", "cond.true/add_1"),
        ("  0.sub/%x = placeholder", "0.sub/x"),
        ("  %output = return (%relu,)", "output"),
        ("# blocks.0  Block                     model.py:7", None),
        ("  # graph cond.true  in %cond", None),
        ("  # model.py:8  y = x %z = 3", None),
        ("", None),
        ("free text", None),
    ],
)
def test_the_leading_name_says_which_node_a_line_defines(line, name):
    assert node_on_line(line) == name


def test_lines_are_numbered_from_one_and_may_end_in_carriage_returns():
    text = "# net\r\n  %x = placeholder\r\n\r\n    sub/%x = placeholder\r\n"
    assert names_by_line(text) == {2: "x", 4: "sub/x"}


def test_a_node_of_the_outer_graph_has_its_plain_name():
    assert qualified_name("", "add") == "add"
    assert qualified_name("cond.true", "add") == "cond.true/add"


def test_reading_a_listing_needs_no_torch():
    code = "import sys, fxdap.view.listing_text; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
