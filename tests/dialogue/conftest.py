"""Dialogues with the real adapter, over stdio and over TCP; every message is checked."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fxdap.wire.client import DapClient
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.listening import Listening

Connect = Callable[[], Dialogue]
Script = Callable[[str], str]
Listen = Callable[[str], Listening]


@pytest.fixture(params=["stdio", "tcp"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The adapter's environment: listings without a workspace go to a folder of the test's."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Writes a program and gives its path."""

    def write(text: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def connect(environment: dict[str, str], sample_models: Path) -> Iterator[Connect]:
    """Opens dialogues over stdio; each must have spoken valid DAP when the test ends."""
    opened: list[Dialogue] = []

    def open_one() -> Dialogue:
        client = DapClient.spawn([sys.executable, "-m", "fxdap.adapter"], env=environment)
        opened.append(Dialogue(client, sample_models))
        return opened[-1]

    yield open_one
    for dialogue in opened:
        dialogue.close()


@pytest.fixture
def dialogue(
    transport: str, connect: Connect, environment: dict[str, str], sample_models: Path
) -> Iterator[Dialogue]:
    """One dialogue, over each transport."""
    if transport == "stdio":
        yield connect()
        return
    command = [sys.executable, "-m", "fxdap.adapter", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        announced = re.search(r":(\d+)", process.stderr.readline())
        assert announced is not None
        dialogue = Dialogue(DapClient.connect("127.0.0.1", int(announced[1])), sample_models)
        try:
            yield dialogue
            dialogue.close()
        finally:
            process.kill()


@pytest.fixture
def listen(tmp_path: Path, environment: dict[str, str]) -> Iterator[Listen]:
    opened: list[Listening] = []

    def start(code: str) -> Listening:
        opened.append(Listening(tmp_path, environment, code))
        return opened[-1]

    yield start
    for listening in opened:
        listening.close()
