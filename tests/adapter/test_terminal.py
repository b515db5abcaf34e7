"""`console`: the client runs the launcher in its terminal, here a pseudo-terminal of the test."""

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from fxdap.wire.client import DapClient, RequestFailed
from fxdap.wire.dispatch import decode_as
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import RunInTerminalRequestArguments, RunInTerminalResponseBody
from tests.adapter.conftest import PATIENCE, wait_gone

# A shell in a terminal is the leader of a session that the terminal controls.
AS_A_SHELL = (
    "import fcntl, os, sys, termios\n"
    "os.setsid()\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
ANSWER = "import os\nprint('pid', os.getpid(), 'tty', os.isatty(0), os.environ['GIVEN'])\n"


class Terminal:
    """Runs what it is asked to, as the client's integrated terminal would."""

    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        self._theirs = theirs
        self.text = ""
        self.asked: RunInTerminalRequestArguments | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def serve(self, request: Request) -> RunInTerminalResponseBody:
        self.asked = decode_as(request, RunInTerminalRequestArguments)
        changes = self.asked.env or {}
        merged = {**os.environ, **changes}
        self.process = subprocess.Popen(
            [sys.executable, "-c", AS_A_SHELL, *self.asked.args],
            cwd=self.asked.cwd,
            env={name: value for name, value in merged.items() if value is not None},
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
        )
        return RunInTerminalResponseBody(process_id=self.process.pid)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def wait_for(self, text: str) -> str:
        with self._changed:
            assert self._changed.wait_for(lambda: text in self.text, PATIENCE), self.text
            return self.text

    def close(self) -> None:
        os.close(self._theirs)
        if self.process is not None:
            self.process.wait(10)
        self._reader.join(10)
        os.close(self._ours)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._ours, 4096)
            except OSError:
                return
            with self._changed:
                self.text += data.decode()
                self._changed.notify_all()


@pytest.fixture
def terminal(client: DapClient) -> Iterator[Terminal]:
    terminal = Terminal()
    client.on_reverse_request = terminal.serve
    yield terminal
    client.close()
    terminal.close()


@pytest.fixture
def run(client: DapClient, tmp_path: "os.PathLike[str]") -> "Run":
    return Run(client, str(tmp_path))


class Run:
    def __init__(self, client: DapClient, folder: str) -> None:
        self._client = client
        self._folder = folder

    def __call__(self, code: str) -> None:
        with open(os.path.join(self._folder, "script.py"), "w") as file:
            file.write(code)
        client = self._client
        client.request("initialize", {"adapterID": "fxdap", "supportsRunInTerminalRequest": True})
        launch = client.send(
            "launch",
            {
                "program": "script.py",
                "cwd": self._folder,
                "console": "integratedTerminal",
                "env": {"GIVEN": "yes"},
            },
        )
        client.wait_event("initialized", PATIENCE)
        client.request("configurationDone")
        client.wait_response(launch)


def test_a_program_in_a_terminal_has_its_input_and_output_there(
    client: DapClient, terminal: Terminal, run: Run
) -> None:
    run(ANSWER + "print('got', input('name? '))\nraise SystemExit(5)")
    terminal.wait_for("name? ")
    terminal.type("fx\n")
    assert client.wait_event("exited", PATIENCE).exit_code == 5
    client.wait_event("terminated")
    assert "tty True yes" in terminal.wait_for("got fx")
    assert client.output("stdout") == ""
    assert terminal.asked is not None
    assert terminal.asked.kind == "integrated"
    token = (terminal.asked.env or {})["FXDAP_TOKEN"]
    assert token
    assert token not in " ".join(terminal.asked.args)


def test_the_terminals_interrupt_key_reaches_the_program_alone(
    client: DapClient, terminal: Terminal, run: Run
) -> None:
    run("import time\nprint('ready')\ntime.sleep(100)")
    terminal.wait_for("ready")
    terminal.type("\x03")
    assert client.wait_event("exited", PATIENCE).exit_code == 130
    assert "KeyboardInterrupt" in terminal.wait_for("KeyboardInterrupt")


def test_a_killed_program_in_a_terminal_is_reported(
    client: DapClient, terminal: Terminal, run: Run
) -> None:
    run("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert client.wait_event("exited", PATIENCE).exit_code == 137
    client.wait_event("terminated")
    assert "was ended by SIGKILL" in client.output("stderr")


@pytest.mark.parametrize("way", ["disconnect", "vanish", "kill the launcher"])
def test_nothing_stays_in_the_terminal(
    client: DapClient, terminal: Terminal, run: Run, way: str
) -> None:
    run(ANSWER + "import time\nprint('ready')\ntime.sleep(100)")
    pid = int(terminal.wait_for("ready").split("pid ")[1].split()[0])
    assert terminal.process is not None
    if way == "disconnect":
        client.request("disconnect", timeout=1)
    elif way == "vanish":
        client.close()
    else:
        os.kill(terminal.process.pid, signal.SIGKILL)
        client.wait_event("terminated")
    wait_gone(pid)
    terminal.process.wait(1)


def test_a_client_that_has_no_terminal_to_give_fails_the_launch(
    client: DapClient, run: Run
) -> None:
    def refuse(request: Request) -> None:
        raise RequestError("no shell")

    client.on_reverse_request = refuse
    client.request("initialize", {"adapterID": "fxdap", "supportsRunInTerminalRequest": True})
    arguments = {"module": "this", "console": "externalTerminal"}
    with pytest.raises(RequestFailed, match="no terminal: no shell"):
        client.request("launch", arguments, timeout=PATIENCE)


def test_without_the_clients_support_the_output_comes_to_the_console(
    client: DapClient, tmp_path: "os.PathLike[str]"
) -> None:
    client.request("initialize", {"adapterID": "fxdap"})
    client.send("launch", {"module": "this", "console": "integratedTerminal", "cwd": str(tmp_path)})
    client.wait_event("initialized", PATIENCE)
    client.request("configurationDone")
    client.wait_event("terminated", PATIENCE)
    assert "this client has no terminal" in client.output("console")
    assert client.output("stdout").startswith("The Zen of Python")
