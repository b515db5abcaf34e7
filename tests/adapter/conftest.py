"""The real adapter process, over stdio and over TCP, with or without a real debuggee behind it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import pytest

from fxdap.wire.client import DapClient
from fxdap.wire.envelope import Response, decode
from fxdap.wire.framing import FrameReader

ADAPTER = [sys.executable, "-m", "fxdap.adapter"]

Launch = Callable[..., DapClient]


@pytest.fixture
def environment(tmp_path: Path, repo_root: Path) -> dict[str, str]:
    """The adapter's environment: fxdap found from any folder, nothing written to the user's."""
    return {
        **os.environ,
        "PYTHONPATH": str(repo_root),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(params=["stdio", "tcp"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def port(environment: dict[str, str]) -> Iterator[int]:
    """The port of an adapter in server mode."""
    with subprocess.Popen(
        [*ADAPTER, "--port", "0"], env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        announced = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", process.stderr.readline())
        assert announced is not None
        yield int(announced[1])
        process.terminate()


@pytest.fixture
def client(environment: dict[str, str]) -> Iterator[DapClient]:
    """A client of a fresh adapter, over stdio; whatever a test does, the adapter ends after it."""
    client = DapClient.spawn(ADAPTER, env=environment)
    yield client
    client.close()
    client.wait_exit()


class RawPeer:
    """Sends bytes as they are, and reads what the adapter answers."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._frames = FrameReader(reader)
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    def ask(self, seq: int, command: str, arguments: object = None) -> Response:
        self.send(framed(seq, command, arguments))
        return self.read()

    def read(self) -> Response:
        """The next response; events are skipped."""
        while True:
            text = self._frames.read()
            assert isinstance(text, bytes), "the adapter has closed the connection"
            message = decode(text)
            if isinstance(message, Response):
                return message


@pytest.fixture
def raw_peer(
    transport: str, environment: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[RawPeer]:
    """A raw peer of an adapter, over each transport."""
    if transport == "tcp":
        with socket.create_connection(("127.0.0.1", request.getfixturevalue("port"))) as sock:
            stream = cast(BinaryIO, sock.makefile("rwb", buffering=0))
            yield RawPeer(stream, stream)
            stream.close()
        return
    with subprocess.Popen(
        ADAPTER, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        yield RawPeer(cast(BinaryIO, process.stdout), cast(BinaryIO, process.stdin))


def framed(seq: int, command: str, arguments: object = None) -> bytes:
    message: dict[str, object] = {"seq": seq, "type": "request", "command": command}
    if arguments is not None:
        message["arguments"] = arguments
    text = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)


PATIENCE = 60.0

GRAPH = """
import torch, torch.fx
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x + 1) * 2
graph = torch.fx.symbolic_trace(Model())
"""


class Started:
    """A client with its program configured and running."""

    def __init__(self, client: DapClient, folder: Path) -> None:
        self.client = client
        self.folder = folder

    def launch(self, code: str, **configuration: object) -> None:
        """Launch a script, with no breakpoints."""
        launch = self.load(code, **configuration)
        self.client.request("configurationDone")
        self.client.wait_response(launch)

    def load(self, code: str, **configuration: object) -> int:
        """Begin to launch a script, up to where it waits for the configuration's end."""
        script = self.folder / "script.py"
        script.write_text(code)
        self.client.request("initialize", {"adapterID": "fxdap"})
        launch = self.client.send(
            "launch", {"program": str(script), "cwd": str(self.folder), **configuration}
        )
        self.client.wait_event("initialized", PATIENCE)
        return launch

    def launch_stopped(self, code: str = GRAPH + "graph(torch.ones(2))") -> int:
        """Launch a script and wait for the stop on entry; gives the thread."""
        self.launch(code)
        thread: int = self.client.wait_event("stopped", PATIENCE).thread_id
        return thread

    def wait_output(self, text: str) -> None:
        """Wait until the program has printed a text."""
        self.client.wait_event("output", PATIENCE, where=lambda body: text in body.output)


@pytest.fixture
def started(client: DapClient, tmp_path: Path) -> Started:
    return Started(client, tmp_path)


def freeze(pid: int) -> None:
    """Stop a process with all its threads, as if it hung."""
    os.kill(pid, signal.SIGSTOP)
    tasks = Path(f"/proc/{pid}/task")
    while any(_state(task / "stat") != "T" for task in tasks.iterdir()):
        time.sleep(0.01)


def _state(stat: Path) -> str:
    return stat.read_text().rpartition(")")[2].split()[0]


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return _state(Path(f"/proc/{pid}/stat")) != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_gone(*pids: int, within: float = 1.0) -> None:
    """Wait until processes are gone; fails when one still runs after `within` seconds."""
    deadline = time.monotonic() + within
    left = [pid for pid in pids if is_alive(pid)]
    while left:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.01)
        left = [pid for pid in left if is_alive(pid)]
