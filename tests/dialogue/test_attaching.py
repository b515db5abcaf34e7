"""Attaching to a process that called `fxdap.listen`, through the adapter and directly."""

from tests.dialogue.conftest import Connect, Listen

GONE_S = 1.0
"""Within which a process that is to end with the session is gone, whatever its client does."""

GUEST = """
import torch, torch.fx, fxdap
from torch.fx.graph_module import _WrappedCall


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x + 1) * 2


def functions():
    names = ("__init__", "run", "run_node")
    own = [torch.fx.Interpreter.__dict__[name] for name in names]
    return [*own, _WrappedCall.__dict__["__call__"], torch.fx.proxy.TracerBase.create_node]


before = functions()
graph = torch.fx.symbolic_trace(Model())
fxdap.listen(token="secret")
fxdap.wait_for_client()
for i in range(3):
    fxdap.breakpoint()
    print(graph(torch.full((2,), float(i))).tolist())
print("restored:", functions() == before, flush=True)
input()
while True:
    graph(torch.ones(2))
"""
"""Runs three graphs for the first client; when told to, runs them for ever."""


def test_a_process_outlives_one_client_and_is_ended_by_another(
    listen: Listen, connect: Connect
) -> None:
    listening = listen(GUEST)
    through_adapter = connect()
    through_adapter.initialize()
    through_adapter.attach(connect={"port": listening.port})
    stop = through_adapter.stopped("entry", "x")
    assert stop.description == "Paused on entry"
    through_adapter.go("continue")
    through_adapter.stopped("entry", "x")
    through_adapter.go("next")
    through_adapter.stopped("step", "add")
    assert through_adapter.value("x.tolist()") == "[1.0, 1.0]"
    through_adapter.client.request("disconnect")
    lines = listening.lines(4)
    assert lines == ["[2.0, 2.0]", "[4.0, 4.0]", "[6.0, 6.0]", "restored: True"]

    direct = listening.connect()
    direct.initialize()
    direct.attach(stopOnEntry=True, nodeBreakpoints=["relu"])
    listening.tell("go on")
    direct.stopped("entry", "x")
    direct.go("continue")
    direct.stopped("function breakpoint", "relu")
    assert direct.value("add.tolist()") == "[2.0, 2.0]"
    direct.client.request("disconnect", {"terminateDebuggee": True})
    listening.process.wait(GONE_S)
    direct.close()
    assert "Traceback" not in listening.errors()


def test_an_interrupted_wait_and_a_vanished_client_leave_the_process_alone(
    listen: Listen,
) -> None:
    listening = listen(GUEST)
    for _ in range(2):
        early = listening.connect()
        early.initialize()
        early.client.send("attach", {"token": "secret"})
        early.client.wait_event("initialized")
        early.close()
    dialogue = listening.connect()
    dialogue.initialize()
    seq = dialogue.client.send("attach", {"token": "secret"})
    dialogue.client.wait_event("initialized")
    [pending] = dialogue.break_on("relu")
    assert (pending.verified, pending.reason) == (False, "pending")
    dialogue.run(seq)
    dialogue.stopped("entry", "x")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "relu")
    dialogue.close()
    assert listening.lines(4)[-1] == "restored: True"
    assert listening.is_running()
