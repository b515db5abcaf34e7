"""The `graph` and `inputs` launch keys: every form they may have, and what mistakes are told."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.graphs.capture import capture
from fxdap.graphs.errors import TargetError
from fxdap.graphs.target import Target, load_target
from tests.conftest import ROOT

SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x, scale=1.0):
        return torch.relu(self.fc(x)) * scale

class NeedsArguments(nn.Module):
    def __init__(self, width):
        super().__init__()

class Branching(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1

class Namespace:
    net = Net()

instance = Net()
traced = torch.fx.symbolic_trace(Net())
exported = torch.export.export(Net(), (torch.ones(1, 2),))
number = 7
text = "text"

def function(x):
    return torch.tanh(x) + 1

def no_arguments():
    return torch.ones(2)

def make():
    return Net()

def make_with_tuple():
    return Net(), (torch.ones(3, 2),)

def make_with_both():
    return Net(), (torch.ones(4, 2),), {"scale": 2.0}

def make_with_tensor():
    return Net(), torch.ones(5, 2)

def make_with_keywords():
    return Net(), {"x": torch.ones(6, 2)}

def make_function():
    return function

def fails():
    raise ZeroDivisionError("inside the factory")

one = torch.ones(7, 2)
pair = ((torch.ones(8, 2),), {"scale": 3.0})
keywords = {"x": torch.ones(9, 2), "scale": 0.5}
listed = [torch.ones(10, 2)]

def make_inputs():
    return (torch.ones(11, 2),)
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Iterator[Callable[[str], Path]]:
    """Writes files into a folder that is the working directory for the test."""
    monkeypatch.chdir(tmp_path)
    before, path = set(sys.modules), list(sys.path)

    def write(name: str, text: str = SOURCE) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return Path(file)

    yield write
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def _rows(target: Target) -> int:
    args, kwargs = target.require_inputs()
    return int((args[0] if args else kwargs["x"]).shape[0])


FORMS = {
    "Net": "symbolic_trace (no inputs are known, export needs them)",
    "instance": "symbolic_trace (no inputs are known, export needs them)",
    "Namespace.net": "symbolic_trace (no inputs are known, export needs them)",
    "traced": "GraphModule",
    "exported": "ExportedProgram",
    "function": "symbolic_trace (no inputs are known, export needs them)",
    "make": "symbolic_trace (no inputs are known, export needs them)",
    "make_function": "symbolic_trace (no inputs are known, export needs them)",
    "make_with_tuple": "torch.export",
    "make_with_both": "torch.export",
    "make_with_tensor": "torch.export",
    "make_with_keywords": "torch.export",
}


@pytest.mark.parametrize("attribute", FORMS)
def test_graph_may_name_anything_that_leads_to_a_graph(place, attribute):
    place("forms.py")
    target = load_target(f"forms.py:{attribute}")
    assert isinstance(target.module, fx.GraphModule)
    assert target.how == FORMS[attribute]
    assert target.name == f"forms.{attribute}"


@pytest.mark.parametrize(
    ("attribute", "rows"),
    [
        ("make_with_tuple", 3),
        ("make_with_both", 4),
        ("make_with_tensor", 5),
        ("make_with_keywords", 6),
        ("exported", 1),
    ],
)
def test_inputs_come_with_the_graph(place, attribute, rows):
    place("given.py")
    target = load_target(f"given.py:{attribute}")
    assert _rows(target) == rows
    args, kwargs = target.require_inputs()
    assert target.module(*args, **kwargs).shape == (rows, 2)


@pytest.mark.parametrize(
    ("attribute", "rows"),
    [("one", 7), ("pair", 8), ("keywords", 9), ("listed", 10), ("make_inputs", 11)],
)
@pytest.mark.parametrize("graph", ["Net", "make_with_tuple", "exported"])
def test_the_inputs_key_names_a_value_or_factory_and_wins(place, attribute, rows, graph):
    place("wins.py")
    place("other.py")
    target = load_target(f"wins.py:{graph}", f"other.py:{attribute}")
    assert _rows(target) == rows


@pytest.mark.parametrize(
    "example",
    [
        "example_inputs = (torch.ones(12, 2),)",
        "example_inputs = torch.ones(12, 2)",
        "def example_inputs(): return (torch.ones(12, 2),)",
        "def example_inputs(): return (), {'x': torch.ones(12, 2)}",
    ],
)
def test_example_inputs_of_the_same_file_are_found(place, example):
    place("example.py", f"{SOURCE}\n{example}\n")
    assert _rows(load_target("example.py:Net")) == 12
    assert _rows(load_target("example.py:make_with_tuple")) == 3


def test_a_graph_may_be_named_by_module_and_by_absolute_path(place):
    file = place("folder/models.py")
    place("folder/__init__.py", "")
    assert load_target("folder.models:traced").how == "GraphModule"
    assert load_target(f"{file}:traced").how == "GraphModule"


def test_a_file_finds_the_modules_beside_it(place):
    place("far/beside_it.py", "def double(x):\n    return x * 2\n")
    place("far/uses.py", "from beside_it import double\n")
    assert "mul" in str(load_target("far/uses.py:double").module.graph)


def test_a_dataclass_in_the_file_works(place):
    place(
        "data.py",
        """
        from __future__ import annotations
        from dataclasses import dataclass
        import torch

        @dataclass
        class Config:
            width: int = 2

        def make():
            return torch.nn.Linear(Config().width, 2), torch.ones(1, 2)
        """,
    )
    assert load_target("data.py:make").how == "torch.export"


def test_a_saved_program_brings_its_sample_inputs(place, tmp_path):
    class Net(nn.Module):
        def forward(self, x: torch.Tensor, scale: torch.Tensor) -> Any:
            return {"out": x * scale}

    program = torch.export.export(Net(), (torch.ones(2, 2),), {"scale": torch.ones(2)})
    torch.export.save(program, tmp_path / "net.pt2")
    target = load_target("net.pt2")
    args, kwargs = target.require_inputs()
    assert (target.name, target.how, target.spec) == ("net", "ExportedProgram", "net.pt2")
    assert torch.equal(target.module(*args, **kwargs)["out"], torch.ones(2, 2))
    place("other.py")
    given = load_target("net.pt2", "other.py:one")
    assert _rows(given) == 7


ERRORS: dict[str, tuple[str, ...]] = {
    "errors.py": ("names no attribute", "Write file.py:attr"),
    "errors": ("names no attribute",),
    ":Net": ("names no attribute",),
    "errors.py:": ("names no attribute",),
    "errors.py:Nett": ("errors.py has no 'Nett'", "Did you mean 'Net'?"),
    "errors.py:qqqqqq": ("errors.py has no 'qqqqqq'", "It defines: Net"),
    "error.py:Net": ("no file", "Did you mean 'errors.py'?"),
    "zzzzzz.py:Net": ("no file", "Relative paths start at"),
    "no_folder/errors.py:Net": ("no file", "There is no folder"),
    "no_such_module:Net": ("no module named 'no_such_module'", "looked in"),
    "errors.no_such:Net": ("no module named 'errors.no_such'",),
    "errors.py:number": ("is of type int", "It must be a module, function, GraphModule"),
    "errors.py:text": ("is of type str",),
    "errors.py:NeedsArguments": (
        "class NeedsArguments needs constructor arguments",
        "Name an instance, or a zero-argument function",
    ),
    "missing.pt2": ("no such file", "Relative paths start at"),
    "broken.pt2": ("torch.export cannot load it", "Save it with torch.export.save"),
}


@pytest.mark.parametrize("spec", ERRORS)
def test_a_wrong_graph_is_answered_with_key_value_and_remedy(place, spec):
    place("errors.py")
    place("broken.pt2", "not a zip")
    with pytest.raises(TargetError) as caught:
        load_target(spec)
    message = str(caught.value)
    assert message.startswith(f"graph: {spec!r}: ")
    for part in ERRORS[spec]:
        assert part in message
    assert (caught.value.key, caught.value.value) == ("graph", spec)


def test_wrong_inputs_are_answered_with_their_own_key(place):
    place("mine.py")
    with pytest.raises(TargetError, match=r"^inputs: 'mine\.py:onee': mine\.py has no 'onee'"):
        load_target("mine.py:Net", "mine.py:onee")
    with pytest.raises(TargetError, match=r"^inputs: 'inputs\.pt': names no attribute"):
        load_target("mine.py:Net", "inputs.pt")


def test_without_inputs_the_error_says_what_to_add(place):
    place("bare.py")
    target = load_target("bare.py:Net")
    with pytest.raises(TargetError) as caught:
        target.require_inputs()
    text = str(caught.value)
    assert text.startswith("graph: 'bare.py:Net': no inputs are known for it.")
    assert "`example_inputs`" in text
    assert "`inputs`" in text


def test_a_graph_without_placeholders_needs_no_inputs(place):
    place("none.py")
    target = load_target("none.py:no_arguments")
    assert target.require_inputs() == ((), {})
    assert torch.equal(target.module(), torch.ones(2))


def test_the_users_own_errors_pass_through(place):
    place("raises.py", "1 / 0\n")
    place("imports.py", "import not_there_at_all\n")
    place("factory.py")
    place("syntax.py", "def\n")
    with pytest.raises(ZeroDivisionError):
        load_target("raises.py:x")
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        load_target("imports.py:x")
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        load_target("imports:x")
    with pytest.raises(ZeroDivisionError, match="inside the factory"):
        load_target("factory.py:fails")
    with pytest.raises(SyntaxError):
        load_target("syntax.py:x")


def test_what_symbolic_trace_cannot_follow_is_named_with_its_line_and_another_way(place):
    file = place("branch.py", SOURCE)
    with pytest.raises(TargetError) as caught:
        load_target("branch.py:Branching", capture="symbolic_trace")
    text = str(caught.value)
    assert text.startswith("capture: 'symbolic_trace': symbolically traced variables cannot")
    assert f", at {file}:" in text
    assert "  return x + 1 if x.sum() > 0 else x - 1. Set capture to 'dynamo'" in text


def test_auto_falls_back_to_the_other_capture_and_says_why(place):
    place("auto.py", SOURCE + "\nexample_inputs = (torch.ones(2),)\n")
    with pytest.raises(TargetError) as caught:
        load_target("auto.py:Branching")
    text = str(caught.value)
    assert text.startswith("capture: 'auto': the model could not be captured.")
    assert "torch.export: " in text
    assert "symbolic_trace: " in text
    assert "TraceError" in text


def test_auto_uses_symbolic_trace_where_export_fails(place):
    place(
        "onlytrace.py",
        """
        import torch

        def opaque(x):
            return x + 1 if float(x.sum()) > 0 else x

        torch.fx.wrap("opaque")

        class Net(torch.nn.Module):
            def forward(self, x):
                return opaque(x)

        example_inputs = (torch.ones(2),)
        """,
    )
    target = load_target("onlytrace.py:Net")
    assert target.how.startswith("symbolic_trace, as torch.export failed: ")


@pytest.mark.parametrize("mode", ["export", "symbolic_trace", "auto"])
def test_each_capture_computes_what_the_model_computes(mode):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    x = torch.ones(3, 2)
    captured = capture(model, (x,), {}, mode)
    assert torch.equal(captured.module(x), model(x))
    function = capture(lambda a, b=2: torch.tanh(a) * b, (x,), {}, mode)
    assert torch.equal(function.module(x), torch.tanh(x) * 2)


def test_export_without_inputs_says_what_to_add(place):
    place("lacks.py")
    with pytest.raises(TargetError, match="needs example inputs"):
        load_target("lacks.py:Net", capture="export")


def test_symbolic_trace_does_not_wait_for_inductor(place):
    net = """
        import torch

        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x)
        """
    place("net.py", net)
    program = (
        "import sys; from fxdap.graphs.target import load_target\n"
        "load_target('net.py:Net', capture='symbolic_trace')\n"
        "print('torch._inductor' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert told == "False\n"


def test_symbolic_trace_records_the_users_lines(place):
    file = place("lines.py")
    module = load_target("lines.py:Net", capture="symbolic_trace").module
    relu = next(node for node in module.graph.nodes if node.name == "relu")
    line = SOURCE.splitlines().index("        return torch.relu(self.fc(x)) * scale") + 1
    assert f'File "{file}", line {line}, in forward' in str(relu.stack_trace)
