"""`--port`: each connection has its session; who speaks no DAP has none."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from fxdap.wire.client import DapClient
from tests.adapter.conftest import ADAPTER, PATIENCE, Started, wait_gone


def connect(port: int, folder: Path) -> Started:
    folder.mkdir()
    return Started(DapClient.connect("127.0.0.1", port), folder)


def test_sessions_side_by_side_and_one_after_the_other(port: int, tmp_path: Path) -> None:
    first, second = connect(port, tmp_path / "1"), connect(port, tmp_path / "2")
    first.launch_stopped()
    second.launch("print('second')")
    assert second.client.wait_event("exited", PATIENCE).exit_code == 0
    assert second.client.output("stdout") == "second\n"
    second.client.request("disconnect")
    second.client.wait_end()
    assert first.client.request("threads").threads != []
    first.client.request("disconnect")
    first.client.wait_end()
    first.client.close()
    second.client.close()
    third = connect(port, tmp_path / "3")
    assert third.client.request("initialize", {"adapterID": "fxdap"}).supports_log_points is True
    third.client.close()


def test_nothing_runs_on_when_a_client_on_a_port_vanishes(port: int, tmp_path: Path) -> None:
    started = connect(port, tmp_path / "1")
    started.launch("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(100)")
    pid = int(started.client.wait_event("output", PATIENCE).output)
    started.client.close()
    wait_gone(pid)


@pytest.mark.parametrize(
    "text",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 46\r\n\r\n"
        b'{"seq":1,"type":"request","command":"threads"}',
        b"\x16\x03\x01\x02\x00\x01\x00",
    ],
)
def test_who_speaks_no_dap_is_turned_away_without_a_word(port: int, text: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        sock.sendall(text)
        try:
            answer = sock.recv(1000)
        except ConnectionResetError:
            answer = b""
    assert answer == b""


def test_only_loopback_can_connect(port: int) -> None:
    listening = subprocess.run(
        ["cat", "/proc/net/tcp"], capture_output=True, text=True, check=True
    ).stdout
    addresses = [line.split()[1] for line in listening.splitlines()[1:]]
    assert next(a for a in addresses if a.endswith(f":{port:04X}")).startswith("0100007F")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--port", "99999"], "--port 99999 is no port"),
        (["--port", "x"], "invalid int value"),
        (["--prot", "1"], "required: --port"),
    ],
)
def test_wrong_arguments_are_explained(arguments: list[str], text: str) -> None:
    done = subprocess.run([*ADAPTER, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert text in done.stderr


def test_a_port_in_use_is_explained(port: int) -> None:
    command = [*ADAPTER, "--port", str(port)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
