"""Nodes that raise: where it stops, what it says, and what the user's program sees of it."""

import subprocess
import sys
from pathlib import Path

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.scripts import FAILING

UNCAUGHT = FAILING + "run()\n"

CAUGHT = (
    FAILING
    + """
for _ in range(2):
    try:
        run()
    except RuntimeError as error:
        print(type(error).__name__, len(error.args), getattr(error, "__notes__", []))
"""
)

CHAINED = (
    FAILING
    + """
try:
    run()
except RuntimeError as error:
    raise ValueError("no result", 7) from error
"""
)


def test_a_node_that_raises_stops_with_its_arguments_at_hand(
    dialogue: Dialogue, script: Script
) -> None:
    program = script(UNCAUGHT)
    dialogue.launch(program=program, stopOnEntry=False)
    stop = dialogue.stopped("exception", "mm")
    why = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    assert (stop.description, stop.text) == ("Paused on exception", why)
    info = dialogue.exception()
    assert (info.exception_id, info.break_mode) == ("RuntimeError", "always")
    description = (info.description or "").splitlines()
    assert description[0] == why.removeprefix("RuntimeError: ")
    assert description[-4:] == [
        "at %mm = torch.mm(%relu, %y)",
        "  args[0] ← %relu = f32[2, 3] cpu  min 1  max 1  mean 1",
        "  args[1] ← %y = f32[2, 3] cpu  min 1  max 1  mean 1",
        f"  from {program}:8  return torch.mm(a, y)",
    ]
    assert info.details is not None
    assert (info.details.type_name, info.details.full_type_name) == (
        "RuntimeError",
        "builtins.RuntimeError",
    )
    called = [line for line in (info.details.stack_trace or "").splitlines() if ", line " in line]
    assert called[:2] == [
        f'  File "{program}", line 17, in <module>',
        f'  File "{program}", line 15, in run',
    ]
    assert dialogue.value("relu.shape == y.shape") == "True"
    assert dialogue.value("torch.mm(relu, y.T).shape") == "torch.Size([2, 2])"
    dialogue.go("continue")
    dialogue.ended(1)
    assert_same_traceback(dialogue, program)


def assert_same_traceback(dialogue: Dialogue, program: str) -> None:
    """What the user's own lines say in the traceback is what plain Python says."""
    plain = subprocess.run([sys.executable, program], capture_output=True, text=True)
    shown = dialogue.client.output("stderr")
    assert "fxdap/" not in shown
    assert own_lines(shown, program) == own_lines(plain.stderr, program)
    assert plain.returncode == 1


def own_lines(text: str, program: str) -> list[str]:
    """The traceback without the frames of libraries and generated code, and without torch's
    own lines before it, which show the generated code.
    """
    kept, own = [], True
    text = text.rpartition("<--- HERE")[2]
    for line in text[text.index("Traceback") :].splitlines():
        if line.startswith("  File "):
            own = f'"{program}"' in line
        elif not line.startswith("    "):
            own = True
        if own and line.strip():
            kept.append(line)
    return kept


def test_a_chained_error_is_told_as_python_tells_it(connect: Connect, script: Script) -> None:
    dialogue = connect()
    program = script(CHAINED)
    seq = dialogue.begin(program=program, stopOnEntry=False)
    dialogue.client.request("setExceptionBreakpoints", {"filters": []})
    dialogue.run(seq)
    dialogue.ended(1)
    assert [e for e in dialogue.client.events if e.name == "stopped"] == []
    assert_same_traceback(dialogue, program)


def test_an_error_that_is_caught_stops_and_the_program_goes_on(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch(program=script(CAUGHT), stopOnEntry=False)
    for _ in range(2):
        dialogue.stopped("exception", "mm")
        dialogue.go("continue")
    dialogue.ended(0)
    assert dialogue.client.output("stdout") == "RuntimeError 1 []\n" * 2
    assert dialogue.client.output("stderr") == ""


def test_filters_choose_nodes_and_uncaught_errors(connect: Connect, script: Script) -> None:
    dialogue = connect()
    seq = dialogue.begin(program=script(CAUGHT + "run()\n"), stopOnEntry=False)
    body = dialogue.client.request(
        "setExceptionBreakpoints",
        {
            "filters": ["uncaught", "thrown"],
            "filterOptions": [
                {"filterId": "raised", "condition": "target:torch.relu"},
                {"filterId": "raised", "condition": "what:ever"},
            ],
        },
    )
    assert [b.verified for b in body.breakpoints] == [True, False, True, False]
    assert body.breakpoints[1].message == (
        "unknown exception filter 'thrown'; filters: raised, uncaught, nan, inf, meta, mutation"
    )
    assert "unknown selector kind 'what:'" in body.breakpoints[3].message
    dialogue.run(seq)
    stop = dialogue.stopped("exception", "mm")
    assert stop.description == "Paused on uncaught exception"
    assert dialogue.exception().break_mode == "unhandled"
    assert dialogue.client.output("stdout").count("\n") == 2
    assert dialogue.value("relu.tolist() == x.tolist()") == "True"
    assert dialogue.scope("Node")["args[1] ← %y"].value.startswith("f32[2, 3]")
    dialogue.go("continue")
    dialogue.ended(1)


def test_an_error_of_a_graph_target_ends_with_its_traceback(
    connect: Connect, tmp_path: Path
) -> None:
    model = tmp_path / "model.py"
    model.write_text(
        FAILING + "def example_inputs():\n    return torch.ones(2, 3), torch.ones(2, 3)\n"
    )
    dialogue = connect()
    dialogue.launch(graph="model.py:graph", cwd=str(tmp_path), stopOnEntry=False)
    dialogue.stopped("exception", "mm")
    dialogue.go("continue")
    dialogue.ended(1)
    errors = dialogue.client.output("stderr")
    assert errors.endswith("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n")
    assert "fxdap/" not in errors
