"""A graph that runs long is shown with its progress, and Cancel pauses it."""

from pathlib import Path

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import PATIENCE

SLOW = """
import sys, time
import torch
from pathlib import Path

door = Path(sys.argv[1])

def wait(x):
    while not door.exists():
        time.sleep(0.01)
    return x + 1

torch.fx.wrap("wait")
module = torch.fx.symbolic_trace(lambda x: torch.neg(wait(torch.abs(x))))
print(module(torch.ones(2)).tolist())
"""


def test_a_long_run_shows_how_far_it_is_and_can_be_paused(
    connect: Connect, script: Script, tmp_path: Path
) -> None:
    dialogue = connect()
    dialogue.abilities = {"supportsProgressReporting": True}
    door = tmp_path / "door"
    dialogue.launch(program=script(SLOW), args=[str(door)], stopOnEntry=False)
    began = dialogue.client.wait_event("progressStart", PATIENCE)
    assert began.title.startswith("Running ")
    assert began.cancellable
    told = dialogue.client.wait_event("progressUpdate", PATIENCE)
    assert (told.progress_id, told.message) == (began.progress_id, "%wait, 2 of 5")
    assert told.percentage == 40.0
    dialogue.client.request("cancel", {"progressId": began.progress_id})
    door.touch()
    dialogue.stopped("pause", "neg")
    assert dialogue.client.wait_event("progressEnd", PATIENCE).progress_id == began.progress_id
    dialogue.go("continue")
    dialogue.ended()
    assert "[-2.0, -2.0]" in dialogue.client.output()


LARGE = """
import operator, torch
from torch import fx

graph = fx.Graph()
last = graph.placeholder("x")
for _ in range(20_000):
    last = graph.call_function(operator.add, (last, 1))
graph.output(last)
print(fx.GraphModule(torch.nn.Module(), graph)(torch.zeros(2)).tolist())
"""


def test_a_large_graph_is_shown_while_it_is_made_ready(connect: Connect, script: Script) -> None:
    dialogue = connect()
    dialogue.abilities = {"supportsProgressReporting": True}
    dialogue.launch(program=script(LARGE))
    began = dialogue.client.wait_event("progressStart", PATIENCE)
    assert began.title == "Preparing script.GraphModule: 20,002 nodes"
    assert not began.cancellable
    dialogue.client.request("cancel", {"progressId": began.progress_id})
    dialogue.stopped("entry", "x")
    names = [event.name for event in dialogue.client.events]
    assert names.index("progressEnd") < names.index("stopped")
    dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[20000.0, 20000.0]\n"
