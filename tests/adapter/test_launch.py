"""What a launch checks before anything runs, and how it fails when the interpreter is wrong."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxdap.wire.client import DapClient, RequestFailed
from tests.adapter.conftest import PATIENCE, Started

Refused = Callable[..., str]


@pytest.fixture
def refused(client: DapClient, tmp_path: Path) -> Refused:
    """Launches what cannot be launched; gives the message."""
    client.request("initialize", {"adapterID": "fxdap"})
    (tmp_path / "a.py").write_text("pass")

    def launch(**configuration: Any) -> str:
        arguments = {"program": "a.py", "cwd": str(tmp_path), **configuration}
        with pytest.raises(RequestFailed) as caught:
            client.request("launch", arguments, timeout=PATIENCE)
        assert caught.value.body.error is not None
        assert caught.value.body.error.show_user is True
        return caught.value.message

    return launch


def interpreter(tmp_path: Path, code: str) -> str:
    """An executable that behaves as an interpreter would."""
    script = tmp_path / "python-without-it"
    script.write_text(f"#!{sys.executable}\n{code}\n")
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"program": "gone.py"}, "'program' is \"gone.py\": no such file (from "),
        ({"program": None, "graph": "gone.py:f"}, "'graph' is \"gone.py:f\": no such file"),
        ({"program": None, "graph": "gone.pt2"}, "'graph' is \"gone.pt2\": no such file"),
        (
            {"program": None, "graph": "a.py:f", "inputs": "gone.py:x"},
            "'inputs' is \"gone.py:x\": no such file",
        ),
        ({"cwd": "/nowhere/at/all"}, "'cwd' is \"/nowhere/at/all\": no such folder"),
        ({"python": "/nowhere/python"}, "'python' is \"/nowhere/python\": no such file"),
        ({"python": "python-of-nobody"}, "'python' is \"python-of-nobody\": not found on PATH"),
        ({"python": "./a.py"}, "'python' is \"./a.py\": not executable"),
        ({"envFile": "gone.env"}, "'envFile' is \"gone.env\": no such file"),
        ({"env": {"A=B": "1"}}, '\'env\' is {"A=B": "1"}: no environment variable'),
        ({"stopOnEntry": 1}, "'stopOnEntry' is 1: expected bool, got int; give true or false"),
        ({"program": None}, "nothing to debug; name a script in 'program'"),
    ],
)
def test_what_is_not_there_is_refused_before_anything_runs(
    refused: Refused, client: DapClient, configuration: dict[str, Any], message: str
) -> None:
    assert refused(**configuration).startswith(message)
    assert client.events == []


def test_a_line_of_an_env_file_that_says_nothing_is_named(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "x.env").write_text("A=1\n# comment\nnonsense\n")
    assert "line 3 is not NAME=value" in refused(envFile="x.env")


@pytest.mark.parametrize("module", ["fxdap", "torch"])
def test_an_interpreter_without_fxdap_or_torch_is_told_how_to_get_it(
    refused: Refused, tmp_path: Path, module: str
) -> None:
    python = interpreter(tmp_path, f"raise ModuleNotFoundError(\"No module named '{module}'\")")
    assert refused(python=python) == (
        f"{python} has no module '{module}'; install fxdap there: {python} -m pip install fxdap"
    )


def test_a_real_interpreter_without_fxdap_is_recognised(refused: Refused) -> None:
    python = [sys.executable, "-I", "-S"]
    shown = " ".join(python)
    assert refused(python=python) == (
        f"{shown} has no module 'fxdap'; install fxdap there: {shown} -m pip install fxdap"
    )


def test_what_is_no_python_is_shown_with_its_last_words(refused: Refused, tmp_path: Path) -> None:
    python = interpreter(tmp_path, "import sys; sys.exit('I am a teapot')")
    assert refused(python=python) == (
        f"{python} ended with code 1 before the debugger in it was ready: I am a teapot"
    )


def test_what_cannot_be_started_is_refused(refused: Refused, tmp_path: Path) -> None:
    script = tmp_path / "broken"
    script.write_bytes(b"\x7fELF nonsense")
    script.chmod(0o755)
    assert refused(python=str(script)).startswith(f"cannot start {script}: ")


def test_a_second_launch_may_correct_the_first(
    refused: Refused, client: DapClient, tmp_path: Path
) -> None:
    refused(program="gone.py")
    refused(python=interpreter(tmp_path, "raise SystemExit(1)"))
    refused(program=None, graph="a.py:nothing")
    (tmp_path / "b.py").write_text("print('it runs')")
    launch = client.send("launch", {"program": "b.py", "cwd": str(tmp_path)})
    client.wait_event("initialized", PATIENCE)
    client.request("configurationDone")
    client.wait_response(launch)
    assert client.wait_event("exited", PATIENCE).exit_code == 0
    assert client.output("stdout") == "it runs\n"


def test_the_program_gets_its_arguments_folder_and_environment(
    started: Started, tmp_path: Path
) -> None:
    (tmp_path / "x.env").write_text("export FROM_FILE='a b'\nBOTH=file # comment\n")
    code = (
        "import os, sys\n"
        "print(sys.argv[1:], os.getcwd())\n"
        "print([os.environ.get(n) for n in ('FROM_FILE', 'BOTH', 'GIVEN', 'HOME')])\n"
        "print([n for n in os.environ if n.startswith('FXDAP')], sys.stdin.read())\n"
    )
    started.launch(
        code, args=["-x", "y z"], envFile="x.env", env={"BOTH": "env", "GIVEN": "1", "HOME": None}
    )
    started.client.wait_event("terminated", PATIENCE)
    assert started.client.output("stdout").splitlines() == [
        f"['-x', 'y z'] {os.path.realpath(tmp_path)}",
        "['a b', 'env', '1', None]",
        "[] ",
    ]


def test_a_second_launch_is_refused_while_something_is_debugged(started: Started) -> None:
    started.launch_stopped()
    with pytest.raises(RequestFailed, match="this session has its debuggee already"):
        started.client.request("launch", {"program": "a.py"})


def test_the_wire_log_is_written_where_it_was_asked_for(started: Started, tmp_path: Path) -> None:
    started.launch("pass", logToFile="log")
    started.client.wait_event("terminated", PATIENCE)
    names = sorted(path.name.split("-")[0] for path in (tmp_path / "log").iterdir())
    assert names == ["adapter", "debuggee"]
