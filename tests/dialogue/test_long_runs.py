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
