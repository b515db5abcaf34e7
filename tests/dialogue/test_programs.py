"""What can be launched, and how a launch that cannot work is refused."""

from pathlib import Path

import pytest
import torch

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.scripts import ONE_RUN, TRACED
from tests.freed_blocks import needs_old_glibc

REPORT = (
    TRACED
    + """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ["COLOUR"], os.environ.get("GONE"), __name__)
print(graph(torch.ones(1)).tolist())
sys.exit(int(sys.argv[-1]))
"""
)

BUILDERS = """\
import torch
from torch import nn


class Scale(nn.Module):
    def forward(self, x, y):
        return x * 2 + y


def build():
    return Scale(), (torch.ones(2), torch.ones(2))


def build_with_keywords():
    return Scale(), (torch.ones(2),), {"y": torch.zeros(2)}


def other_inputs():
    return torch.ones(3), torch.ones(3)


def broken():
    raise RuntimeError("no weights")
"""


def test_a_script_gets_its_arguments_folder_and_environment(
    connect: Connect, script: Script, tmp_path: Path
) -> None:
    dialogue = connect()
    (tmp_path / ".env").write_text("COLOUR=blue\nGONE=no\n")
    dialogue.launch(
        program=script(REPORT),
        args=["a b", "--c", "3"],
        cwd=str(tmp_path),
        env={"COLOUR": "red", "GONE": None},
        envFile=str(tmp_path / ".env"),
        stopOnEntrie=False,
    )
    dialogue.stopped("entry", "x")
    assert (
        "launch configuration: unknown key 'stopOnEntrie' is ignored; did you mean 'stopOnEntry'?"
        in dialogue.client.output("console")
    )
    dialogue.go("continue")
    dialogue.ended(3)
    assert dialogue.client.output("stdout") == (
        f"['a b', '--c', '3'] {tmp_path} red None __main__\n[4.0]\n"
    )


def test_a_script_without_a_graph_is_told_what_would_be_debugged(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch(program=script("import sys\nsys.exit(0)\n"))
    dialogue.ended(0)
    told = dialogue.client.output("console")
    assert "No graph was run." in told
    assert "'graph': 'file.py:Model'" in told


def test_a_module_runs_like_python_m(connect: Connect, tmp_path: Path) -> None:
    package = tmp_path / "tool"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(
        "import sys\nfrom . import work\n"
        "print(sys.argv, __package__, work.result)\nsys.exit('bad end')\n"
    )
    (package / "work.py").write_text(TRACED + "result = graph(torch.ones(1)).item()\n")
    dialogue = connect()
    dialogue.launch("relu", module="tool", args="one 'two three'", cwd=str(tmp_path))
    dialogue.stopped("entry", "x")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "relu")
    dialogue.go("continue")
    dialogue.ended(1)
    argv = [str(package / "__main__.py"), "one", "two three"]
    assert dialogue.client.output("stdout") == f"{argv} tool 4.0\n"
    assert dialogue.client.output("stderr") == "bad end\n"


def test_without_debugging_nothing_stops(connect: Connect, script: Script) -> None:
    dialogue = connect()
    dialogue.launch("relu", program=script(ONE_RUN), noDebug=True)
    dialogue.ended(0)
    assert [e for e in dialogue.client.events if e.name == "stopped"] == []
    assert dialogue.client.output("stdout") == "[4.0, 4.0]\n"


def test_an_exported_file_runs_with_its_own_inputs_or_others(
    connect: Connect, tmp_path: Path
) -> None:
    (tmp_path / "builders.py").write_text(BUILDERS)

    class Square(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x * x + y

    rows = torch.export.Dim("rows")
    exported = torch.export.export(
        Square(),
        (torch.full((2,), 3.0), torch.ones(2)),
        dynamic_shapes={"x": {0: rows}, "y": {0: rows}},
    )
    torch.export.save(exported, tmp_path / "square.pt2")
    for inputs, returned in ({}, "f32[2] cpu"), ({"inputs": "builders.py:other_inputs"}, "f32[3]"):
        dialogue = connect()
        dialogue.launch(
            "aten.add", graph="square.pt2", cwd=str(tmp_path), stopOnEntry=False, **inputs
        )
        dialogue.stopped("function breakpoint", "add")
        assert dialogue.value("mul.shape == x.shape") == "True"
        dialogue.go("continue")
        dialogue.ended(0)
        assert f"square returned {returned}" in dialogue.client.output("console")


def test_a_launch_that_cannot_work_is_refused_with_the_remedy_and_another_may_follow(
    connect: Connect, tmp_path: Path
) -> None:
    (tmp_path / "builders.py").write_text(BUILDERS)
    refused = {
        ("graph", "builders.py:biuld"): "builders.py has no 'biuld'. Did you mean 'build'?",
        ("graph", "bilders.py:build"): "no such file",
        ("graph", "builders.py"): "names no attribute. Write file.py:attr",
        ("graph", "builders.py:broken"): "raised RuntimeError: no weights",
        ("graph", "missing.pt2"): "no such file",
        ("program", "missing.py"): "no such file",
    }
    dialogue = connect()
    dialogue.initialize()
    for (key, value), reason in refused.items():
        message = dialogue.refused("launch", {key: value, "cwd": str(tmp_path)})
        assert reason in message
        assert value in message
    message = dialogue.refused(
        "launch", {"graph": "builders.py:build", "inputs": "builders.py:nope", "cwd": str(tmp_path)}
    )
    assert message.startswith("inputs: 'builders.py:nope': builders.py has no 'nope'")
    message = dialogue.refused(
        "launch", {"graph": "builders.py:build", "capture": "magic", "cwd": str(tmp_path)}
    )
    assert "'capture' is \"magic\"" in message
    assert "give one of auto, symbolic_trace" in message
    seq = dialogue.client.send(
        "launch", {"graph": "builders.py:build_with_keywords", "cwd": str(tmp_path)}
    )
    dialogue.client.wait_event("initialized", 60)
    dialogue.run(seq)
    dialogue.stopped("entry", "x")
    assert "has its debuggee already" in dialogue.refused("launch", {"program": "again.py"})
    dialogue.go("continue")
    dialogue.ended(0)


@needs_old_glibc
@pytest.mark.parametrize(("kept", "set_aside"), [("all", "False"), ("needed", "True")])
def test_freed_blocks_join_at_once_where_values_are_kept(
    connect: Connect, script: Script, kept: str, set_aside: str
) -> None:
    dialogue = connect()
    program = script("from tests.freed_blocks import are_set_aside\nprint(are_set_aside())\n")
    root = str(Path(__file__).parents[2])
    dialogue.launch(program=program, keepValues=kept, stopOnEntry=False, env={"PYTHONPATH": root})
    dialogue.ended(0)
    assert dialogue.client.output("stdout") == f"{set_aside}\n"
