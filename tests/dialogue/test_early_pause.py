"""Pausing a program that has not run a graph yet."""

from pathlib import Path

from tests.dialogue.conftest import Connect

WAITING = """
import time
from pathlib import Path
import torch

graph = torch.fx.symbolic_trace(lambda x: torch.relu(x))
print("ready", flush=True)
while not Path("go").exists():
    time.sleep(0.01)
graph(torch.ones(2))
"""


def test_the_first_graph_pauses_and_a_missing_listing_is_named(
    connect: Connect, tmp_path: Path
) -> None:
    (tmp_path / "waiting.py").write_text(WAITING)
    dialogue = connect()
    dialogue.launch(program="waiting.py", cwd=str(tmp_path), stopOnEntry=False)
    dialogue.client.wait_event("output", 60, where=lambda body: "ready" in body.output)
    dialogue.client.request("pause", {"threadId": 1})
    (missing,) = dialogue.break_at(tmp_path / "none.fxgraph", 3)
    assert missing.message == "there is no listing none.fxgraph; `fxdap list TARGET` writes one"
    (tmp_path / "go").touch()
    stop = dialogue.stopped("pause", "x")
    assert stop.description == "Paused"
    dialogue.go("continue")
    dialogue.ended(0)
