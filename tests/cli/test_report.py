"""What a stop looks like in a terminal and in JSON."""

import io
import json

import pytest

from fxdap.cli.report import JsonReport, TextReport
from fxdap.cli.snapshot import Snapshot, Watch
from fxdap.wire.messages import (
    Breakpoint,
    ExceptionInfoResponseBody,
    OutputEventBody,
    Source,
    StackFrame,
    Variable,
)


def frame(name: str, line: int, path: str = "/models/gpt.py") -> StackFrame:
    return StackFrame(id=line, name=name, line=line, column=1, source=Source(path=path))


def variable(name: str, value: str) -> Variable:
    return Variable(name=name, value=value, type="Tensor", variables_reference=0)


STOP = Snapshot(
    reason="function breakpoint",
    thread_id=1,
    breakpoints=["target:aten.add"],
    frames=[frame("%add: f32[2] = aten.add.Tensor(%x, %y)", 4), frame("blocks.0  Block", 12)],
    scopes={
        "Node": [variable("self", "f32[2] cpu"), variable("other", "i64[] cpu")],
        "Env": [
            *(variable(f"n{number}", str(number)) for number in range(20)),
            Variable(name="inputs", value="1 value", variables_reference=7),
        ],
    },
    watches=[Watch(expression="x.shape", result="(2,)"), Watch(expression="z", error="no z")],
)


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def err() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def text(out: io.StringIO, err: io.StringIO) -> TextReport:
    return TextReport(out, err)


def test_a_stop_is_aligned_text_without_colours_in_a_pipe(text: TextReport, out: io.StringIO):
    text.stopped(STOP)
    assert out.getvalue().splitlines() == [
        "function breakpoint: target:aten.add",
        "  %add: f32[2] = aten.add.Tensor(%x, %y)",
        "  Stack     blocks.0  Block  /models/gpt.py:12",
        "  Node      self   f32[2] cpu",
        "            other  i64[] cpu",
        "  Env       … 12 before",
        *(f"            {f'n{number}':<11}  {number}" for number in range(12, 20)),
        "            inputs       1 value",
        "  Watch     x.shape  (2,)",
        "            z        error: no z",
        "",
    ]


def test_an_exception_is_shown_with_its_type_and_message(text: TextReport, out: io.StringIO):
    info = ExceptionInfoResponseBody(
        exception_id="RuntimeError", description="shapes differ\n  2 and 3", break_mode="always"
    )
    text.stopped(Snapshot(reason="exception", thread_id=1, exception=info))
    assert out.getvalue().splitlines()[:3] == [
        "exception",
        "  RuntimeError: shapes differ",
        "    2 and 3",
    ]


def test_a_report_begins_on_a_line_of_its_own(text: TextReport, out: io.StringIO):
    text.output(OutputEventBody(category="stdout", output="loss: "))
    text.stopped(Snapshot(reason="step", thread_id=1))
    assert out.getvalue() == "loss: \nstep\n\n"


def test_program_output_keeps_its_streams(text: TextReport, out: io.StringIO, err: io.StringIO):
    text.output(OutputEventBody(category="stdout", output="result\n"))
    text.output(OutputEventBody(category="stderr", output="warning\n"))
    assert (out.getvalue(), err.getvalue()) == ("result\n", "warning\n")


def test_a_selector_that_matches_nothing_is_told_with_the_debuggers_words(
    text: TextReport, err: io.StringIO
):
    text.breakpoint("relu9", Breakpoint(verified=False, message="no node is called relu9"))
    text.breakpoint("relu", Breakpoint(verified=True, message="1 node"))
    assert err.getvalue() == "fxdap: --break relu9: no node is called relu9\n"


def test_json_is_one_object_per_line_named_by_event(out: io.StringIO):
    report = JsonReport(out)
    report.output(OutputEventBody(category="stdout", output="a\nb"))
    report.breakpoint("relu", Breakpoint(verified=True))
    report.stopped(STOP)
    report.exited(1)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["output", "breakpoint", "stopped", "exited"]
    assert lines[0] == {"event": "output", "category": "stdout", "output": "a\nb"}
    assert lines[2]["frames"][1]["line"] == 12
    assert lines[2]["scopes"]["Node"][0] == {
        "name": "self",
        "value": "f32[2] cpu",
        "type": "Tensor",
        "variablesReference": 0,
    }
    assert lines[2]["watches"][1] == {"expression": "z", "result": None, "error": "no z"}
    assert lines[3] == {"event": "exited", "exitCode": 1}
