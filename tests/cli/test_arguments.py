"""What the command line accepts, and what it asks the debugger for."""

import subprocess
import sys
from pathlib import Path

import pytest

from fxdap.cli import main
from fxdap.cli.options import RunOptions


def test_no_command_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as exit_info:
        main([])
    assert exit_info.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_a_negative_number_of_steps_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(["run", "model.py:Model", "--steps", "-1"])
    assert exit_info.value.code == 2
    assert "must be 0 or more" in capsys.readouterr().err


def test_program_arguments_need_a_program(capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(["run", "model.py:Model", "--", "x"])
    assert exit_info.value.code == 2
    assert "TARGET is no script" in capsys.readouterr().err


def test_a_graph_target_is_launched_as_a_graph(monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    options = RunOptions(target="model.py:Model", inputs="model.py:inputs", breaks=("relu",))
    assert options.launch_arguments() == {
        "name": "fxdap run model.py:Model",
        "type": "fxdap",
        "request": "launch",
        "cwd": str(tmp_path),
        "stopOnEntry": False,
        "graph": "model.py:Model",
        "capture": "auto",
        "inputs": "model.py:inputs",
    }


def test_a_python_file_is_launched_as_a_program_with_its_arguments():
    options = RunOptions(target="train.py", program_args=("--fast", "3"), compile="aot")
    arguments = options.launch_arguments()
    assert arguments["program"] == "train.py"
    assert arguments["args"] == ["--fast", "3"]
    assert arguments["compile"] == "aot"
    assert "graph" not in arguments


@pytest.mark.parametrize(
    ("options", "stops"),
    [
        (RunOptions(target="m.py:M"), False),
        (RunOptions(target="m.py:M", steps=1), True),
        (RunOptions(target="m.py:M", at_stop=("x",)), True),
        (RunOptions(target="m.py:M", steps=1, breaks=("relu",)), False),
    ],
)
def test_it_stops_on_entry_when_something_is_to_be_shown_and_nothing_says_where(
    options: RunOptions, stops: bool
):
    assert options.stop_on_entry is stops


def test_the_command_line_of_run_imports_no_torch():
    code = "import sys, fxdap.cli.run, fxdap.cli.command; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
