import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fxdap.wire.client import DapClient, RequestFailed
from tests.adapter.conftest import GRAPH, PATIENCE, Started

LISTENING = (
    GRAPH + "import fxdap\n"
    "fxdap.listen(token='secret')\n"
    "fxdap.wait_for_client()\n"
    "for _ in range(3):\n"
    "    fxdap.breakpoint()\n"
    "    graph(torch.ones(2))\n"
    "print('all done')\n"
)


class Listening:
    """A process of the user's that called `fxdap.listen`."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        script = folder / "listening.py"
        script.write_text(LISTENING)
        self.process = subprocess.Popen(
            [sys.executable, script],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", self.process.stderr.readline())
        assert found is not None
        self.port = int(found[1])

    def attach(self, client: DapClient, token: str = "secret") -> int:
        client.request("initialize", {"adapterID": "fxdap"})
        attach = client.send("attach", {"connect": {"port": self.port}, "token": token})
        client.wait_event("initialized", PATIENCE)
        client.request("configurationDone")
        client.wait_response(attach)
        thread: int = client.wait_event("stopped", PATIENCE).thread_id
        return thread


@pytest.fixture
def listening(tmp_path: Path, environment: dict[str, str]) -> Iterator[Listening]:
    listening = Listening(tmp_path, environment)
    yield listening
    listening.process.kill()
    listening.process.communicate()


def test_disconnecting_lets_an_attached_process_go_on(
    listening: Listening, client: DapClient
) -> None:
    thread = listening.attach(client)
    client.request("next", {"threadId": thread})
    client.wait_event("stopped")
    client.request("disconnect")
    assert client.wait_exit() == 0
    assert listening.process.communicate(timeout=PATIENCE)[0] == "all done\n"
    assert listening.process.returncode == 0


def test_a_client_that_vanishes_lets_an_attached_process_go_on(
    listening: Listening, client: DapClient
) -> None:
    listening.attach(client)
    client.close()
    assert client.wait_exit() == 0
    assert listening.process.communicate(timeout=PATIENCE)[0] == "all done\n"


def test_an_attached_process_that_is_killed_is_reported(
    listening: Listening, client: DapClient
) -> None:
    thread = listening.attach(client)
    listening.process.kill()
    client.wait_event("terminated")
    assert [event.name for event in client.events].count("exited") == 0
    with pytest.raises(RequestFailed, match="the debuggee has ended"):
        client.request("stackTrace", {"threadId": thread})


def test_an_attached_process_cannot_be_restarted(listening: Listening, client: DapClient) -> None:
    listening.attach(client)
    with pytest.raises(RequestFailed, match="only a launched program can be restarted"):
        client.request("restart")


def test_a_wrong_token_is_refused_and_the_right_one_may_follow(
    listening: Listening, client: DapClient
) -> None:
    client.request("initialize", {"adapterID": "fxdap"})
    with pytest.raises(RequestFailed, match="token"):
        client.request(
            "attach", {"connect": {"port": listening.port}, "token": "x"}, timeout=PATIENCE
        )
    attach = client.send("attach", {"connect": {"port": listening.port}, "token": "secret"})
    client.wait_event("initialized", PATIENCE)
    client.request("configurationDone")
    client.wait_response(attach)


def test_where_nothing_listens_the_remedy_is_named(started: Started) -> None:
    client = started.client
    client.request("initialize", {"adapterID": "fxdap"})
    with pytest.raises(RequestFailed, match=r"nothing to attach to at 127\.0\.0\.1:1 .*listen"):
        client.request("attach", {"connect": {"port": 1}})
    with pytest.raises(RequestFailed, match="'connect' is null: missing"):
        client.request("attach", {})
