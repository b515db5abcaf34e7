"""`fxdap.debug`: one graph of a running program, from its first call on."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.dialogue.listening import Listening

CODE = """
import torch, fxdap
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(3.0))
    def forward(self, x):
        return torch.relu(x) * self.scale
module = torch.fx.symbolic_trace(Model())
run = fxdap.debug({target})
with torch.no_grad():
    print(run(torch.tensor([-1.0, 2.0])).tolist(), flush=True)
"""


@pytest.mark.parametrize("target", ["module", "module.graph"])
def test_the_call_waits_for_a_client_and_stops_before_the_first_node(
    tmp_path: Path, environment: dict[str, str], target: str
) -> None:
    environment = {**environment, "FXDAP_TOKEN": "secret"}
    with closing(Listening(tmp_path, environment, CODE.format(target=target))) as listening:
        dialogue = listening.connect()
        dialogue.attach()
        dialogue.stopped("entry", "x")
        dialogue.go("next")
        dialogue.stopped("step", "relu")
        dialogue.go("continue")
        assert listening.lines(1) == ["[0.0, 6.0]"]
        dialogue.close()
        assert listening.process.wait(60) == os.EX_OK
