"""Threads that are over are not listed; an error that torch converts is still the node's."""

from pathlib import Path

from tests.dialogue.conftest import Connect

THREADED = """
import threading
import torch

graph = torch.fx.symbolic_trace(lambda x: torch.relu(x))
worker = threading.Thread(target=lambda: graph(torch.ones(2)), name="worker")
worker.start()
worker.join()
graph(torch.ones(2))
"""

CONVERTED = """
import torch

def lookup(x):
    return {}["missing"]

torch.fx.wrap("lookup")
graph = torch.fx.symbolic_trace(lambda x: lookup(x) + 1)
torch.fx.Interpreter(graph).run(torch.ones(2))
"""


def test_an_ended_thread_is_no_longer_listed(connect: Connect, tmp_path: Path) -> None:
    script = tmp_path / "threaded.py"
    script.write_text(THREADED)
    dialogue = connect()
    dialogue.launch("relu", program=str(script), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "relu")
    worker = dialogue.thread
    assert [t.name for t in dialogue.client.request("threads").threads] == ["worker"]
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "relu")
    assert [t.name for t in dialogue.client.request("threads").threads] == ["MainThread"]
    ended = dialogue.client.wait_event("thread", where=lambda body: body.reason == "exited")
    assert ended.thread_id == worker
    dialogue.go("continue")
    dialogue.ended(0)


def test_an_error_that_torch_converts_stops_post_mortem_at_its_node(
    connect: Connect, tmp_path: Path
) -> None:
    script = tmp_path / "converted.py"
    script.write_text(CONVERTED)
    dialogue = connect()
    seq = dialogue.begin(program=str(script), stopOnEntry=False)
    dialogue.client.request("setExceptionBreakpoints", {"filters": ["uncaught"]})
    dialogue.run(seq)
    stop = dialogue.stopped("exception", "lookup")
    assert stop.description == "Paused on uncaught exception"
    assert stop.text is not None
    assert stop.text.startswith("RuntimeError: missing")
    assert dialogue.value("x.shape") == "torch.Size([2])"
    dialogue.go("continue")
    dialogue.ended(1)
    assert "RuntimeError: missing" in dialogue.client.output("stderr")
