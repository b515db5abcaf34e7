"""Leaving a launched program: it runs on when the client asks for that."""

from pathlib import Path

from tests.dialogue.conftest import Connect

SCRIPT = """
import sys
import torch
from pathlib import Path

module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
result = module(torch.tensor([-1.0, 2.0]))
Path(sys.argv[1]).write_text(str(result.tolist()))
"""


def test_a_program_that_is_not_to_be_terminated_runs_to_its_end(
    connect: Connect, tmp_path: Path
) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out.txt"
    script.write_text(SCRIPT)
    dialogue = connect()
    dialogue.launch(program=str(script), args=[str(out)])
    dialogue.stopped("entry", "x")
    dialogue.client.request("disconnect", {"terminateDebuggee": False})
    dialogue.client.wait_exit(60)
    assert out.read_text() == "[1.0, 3.0]"
