"""`fxdap run` end to end: the command, the real adapter, the real debuggee."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

RAISES = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(torch.relu(x))

example_inputs = (torch.ones(3, 5),)
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of `--json`."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def stops(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "stopped"]

    def output(self, category: str) -> str:
        return "".join(
            event["output"]
            for event in self.events
            if event["event"] == "output" and event["category"] == category
        )


def fxdap_run(*words: object) -> Result:
    command = [sys.executable, "-m", "fxdap", "run", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    return Result(done.returncode, done.stdout, done.stderr)


def node_at(stop: dict[str, Any]) -> str:
    """The node's name in the top frame's listing line."""
    return str(stop["frames"][0]["name"]).split(":")[0].split(" ")[0]


@pytest.fixture
def raises(tmp_path: Path) -> str:
    file = tmp_path / "raises.py"
    file.write_text(RAISES)
    return f"{file}:Model"


def test_a_breakpoint_shows_the_stop_and_the_run_goes_on_to_its_end(sample_models: Path):
    result = fxdap_run(
        sample_models / "mlp.py:MLP",
        *("--capture", "export", "--break", "target:aten.relu"),
        *("--at-stop", "linear.shape", "--at-stop", "nothing_here"),
    )
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "Paused on function breakpoint: target:aten.relu"
    assert lines[1] == "  %relu: f32[2, 16] = aten.relu.default(%linear)"
    assert any("self ← %linear  f32[2, 16]" in line for line in lines)
    assert "torch.Size([2, 16])" in next(line for line in lines if "linear.shape" in line)
    assert "nothing_here" in next(line for line in lines if "error:" in line)


def test_steps_follow_the_first_stop_node_by_node(sample_models: Path):
    result = fxdap_run(
        sample_models / "mlp.py:MLP",
        *("--capture", "symbolic_trace", "--break", "fc1", "--steps", "2", "--json"),
    )
    assert result.code == 0
    assert [node_at(stop) for stop in result.stops] == ["%fc1", "%relu", "%fc2"]
    assert [stop["reason"] for stop in result.stops] == ["function breakpoint", "step", "step"]
    returned = result.stops[1]["scopes"]["Returned"]
    assert returned[0]["value"].startswith("f32[2, 16]")
    assert result.events[-1] == {"event": "exited", "exitCode": 0}


def test_steps_without_a_breakpoint_begin_at_the_first_node(sample_models: Path):
    result = fxdap_run(
        sample_models / "nested.py:model", "--steps", "1", "--capture", "symbolic_trace", "--json"
    )
    assert result.code == 0
    assert [stop["reason"] for stop in result.stops] == ["entry", "step"]
    assert node_at(result.stops[0]) == "%x"


def test_a_raising_graph_stops_at_its_node_and_ends_with_1(raises: str):
    result = fxdap_run(raises, "--capture", "symbolic_trace", "--json")
    assert result.code == 1
    assert [stop["reason"] for stop in result.stops] == ["exception"]
    stop = result.stops[0]
    assert node_at(stop) == "%fc"
    assert stop["exception"]["exceptionId"].endswith("RuntimeError")
    assert "mat1 and mat2 shapes cannot be multiplied" in result.output("stderr")
    assert result.events[-1] == {"event": "exited", "exitCode": 1}


def test_a_target_that_is_not_there_ends_with_2_and_the_remedy(sample_models: Path):
    result = fxdap_run(sample_models / "mlp.py:MLPP")
    assert result.code == 2
    assert "Did you mean 'MLP'?" in result.err
    assert result.out == ""


def test_a_selector_that_matches_nothing_is_reported_and_the_run_goes_on(sample_models: Path):
    result = fxdap_run(sample_models / "mlp.py:MLP", "--break", "target:aten.nothing")
    assert result.code == 0
    assert "--break target:aten.nothing: " in result.err
    assert "Paused" not in result.out


def test_a_script_keeps_its_output_and_stops_in_the_graphs_it_runs(sample_models: Path):
    result = fxdap_run(sample_models / "script.py", "--break", "target:torch.sigmoid", "--json")
    assert result.code == 0
    assert [node_at(stop) for stop in result.stops] == ["%sigmoid"] * 3
    assert result.output("stdout") == (
        "equal: True\n"
        "nodes: {'placeholder': 1, 'call_module': 1, 'call_method': 1, "
        "'call_function': 4, 'output': 1}\n"
        "sum: -1.9327\n"
    )


def test_a_selector_that_no_graph_of_a_script_matches_is_reported_at_the_end(sample_models: Path):
    result = fxdap_run(sample_models / "script.py", "--break", "target:torch.tanh")
    assert result.code == 0
    assert "--break target:torch.tanh: " in result.err


def test_words_after_two_dashes_are_the_scripts_arguments(tmp_path: Path):
    script = tmp_path / "echo.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    result = fxdap_run(script, "--", "--fast", "a b")
    assert (result.code, result.out) == (0, "['--fast', 'a b']\n")


def test_a_failing_script_ends_with_1_and_its_own_traceback(tmp_path: Path):
    script = tmp_path / "fails.py"
    script.write_text("def broken():\n    raise KeyError('weights')\n\nbroken()\n")
    result = fxdap_run(script)
    assert result.code == 1
    assert "KeyError: 'weights'" in result.err
    assert "fxdap/" not in result.err.partition("exited with code")[0]


LOOPS = """
import os, time
print(os.getpid(), flush=True)
while True:
    time.sleep(0.05)
"""


def test_an_interrupt_ends_the_run_and_the_program_with_it(tmp_path: Path):
    script = tmp_path / "loops.py"
    script.write_text(LOOPS)
    # A shell that runs the tests in its background lets its children ignore the interrupt.
    interruptible = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    start = f"{interruptible}; from fxdap.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", start, "run", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        program = os.pidfd_open(int(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
    ended, _, _ = select.select([program], [], [], 2)
    os.close(program)
    assert ended == [program]


def test_a_reader_that_leaves_ends_the_run_without_a_traceback(sample_models: Path):
    words = [str(sample_models / "mlp.py:MLP"), "--steps", "12"]
    command = [sys.executable, "-m", "fxdap", "run", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(timeout=30) == 130
    assert "Traceback" not in errors


def test_it_stops_where_a_value_becomes_inf_and_then_nan(sample_models: Path):
    words = ("--stop-on", "nan", "--stop-on", "inf", "--json")
    result = fxdap_run(sample_models / "nan.py:MaskedAttention", *words)
    assert result.code == 0
    assert [node_at(stop) for stop in result.stops] == ["%div", "%softmax"]
