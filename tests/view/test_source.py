"""User source lines, read from recorded stack traces."""

from pathlib import Path

import torch
from torch import fx, nn

import fxdap.view
from fxdap.view.source import SourceFrame, user_frames, user_line

TORCH = torch.__path__[0]
FXDAP = Path(fxdap.view.__file__).parent


def node_with(trace):
    node = fx.Graph().placeholder("x")
    node.meta["stack_trace"] = trace
    return node


def test_frames_are_outermost_first_with_their_code():
    node = node_with(
        '  File "/home/me/model.py", line 20, in forward\n'
        "    h = self.block(x)\n"
        "        ^^^^^^^^^^^^^\n"
        '  File "/home/me/block.py", line 7, in forward\n'
        "    return self.fc1(x)\n"
    )
    assert user_frames(node) == (
        SourceFrame("/home/me/model.py", 20, "forward", "h = self.block(x)"),
        SourceFrame("/home/me/block.py", 7, "forward", "return self.fc1(x)"),
    )
    assert user_line(node) == SourceFrame("/home/me/block.py", 7, "forward", "return self.fc1(x)")


def test_frames_of_torch_of_fxdap_and_of_no_file_are_dropped():
    node = node_with(
        '  File "<frozen runpy>", line 88, in _run_code\n'
        f'  File "{FXDAP.parent}/graphs/capture.py", line 3, in capture\n'
        '  File "/home/me/model.py", line 20, in forward\n'
        '  File "<eval_with_key>.24", line 11, in forward\n'
        f'  File "{TORCH}/nn/modules/linear.py", line 134, in forward\n'
        "    return F.linear(input, self.weight, self.bias)\n"
    )
    assert user_frames(node) == (SourceFrame("/home/me/model.py", 20, "forward"),)


def test_text_around_the_frames_and_code_of_several_lines_are_tolerated():
    node = node_with(
        "Gradient addition node due to multiple use of tensor around:\n"
        '  File "/home/me/model.py", line 20, in <listcomp>\n'
        "    h = self.block(\n"
        "        ~~~~~~~~~~^\n"
        "        x)\n"
        "\n"
        "and a last word\n"
    )
    assert user_line(node) == SourceFrame(
        "/home/me/model.py", 20, "<listcomp>", "h = self.block( x)"
    )


def test_a_folder_that_only_begins_like_torchs_is_the_users():
    node = node_with(f'  File "{TORCH}vision/model.py", line 1, in forward\n')
    assert user_line(node) == SourceFrame(f"{TORCH}vision/model.py", 1, "forward")


def test_without_a_trace_or_a_user_frame_there_is_no_line():
    assert user_line(fx.Graph().placeholder("x")) is None
    assert user_line(node_with("no frames here")) is None
    assert user_line(node_with(f'File "{TORCH}/nn/x.py", line 1, in f\n')) is None


class Double(nn.Module):
    def forward(self, x):
        y = nn.functional.relu(x)
        return y + y


def test_the_line_of_an_exported_node_is_this_files():
    program = torch.export.export(Double(), (torch.ones(2),))
    frame = user_line(next(n for n in program.graph.nodes if n.name == "relu"))
    assert frame is not None
    assert frame.file == __file__
    assert frame.code == "y = nn.functional.relu(x)"
