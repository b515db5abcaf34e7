"""Large graphs, many breakpoints, floods of log messages: as usable as small ones."""

from pathlib import Path

import pytest

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import PATIENCE, Dialogue

HUGE = """
import operator, torch
from torch import fx

def huge():
    graph = fx.Graph()
    last = graph.placeholder("x")
    for _ in range(100_000):
        last = graph.call_function(operator.add, (last, 1))
    graph.output(last)
    return fx.GraphModule(torch.nn.Module(), graph), (torch.zeros(2),)
"""

LOOP = """
import torch
from torch import fx

class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range(500):
            x = torch.relu(x + 1)
        return x

graph = fx.symbolic_trace(Model())
while True:
    graph(torch.zeros(2))
"""


def lines_of(listing: str, start: str) -> list[int]:
    """The lines of a listing file that define nodes whose names begin so."""
    lines = Path(listing).read_text().splitlines()
    return [n for n, line in enumerate(lines, 1) if line.strip().startswith(f"%{start}")]


def stopped_in_loop(connect: Connect, script: Script) -> tuple[Dialogue, str]:
    """A session that is stopped before the first of 1000 nodes, and their listing."""
    dialogue = connect()
    dialogue.launch(program=script(LOOP))
    dialogue.stopped("entry")
    source = dialogue.stack(levels=1)[0].source
    assert source is not None
    assert source.path is not None
    return dialogue, source.path


@pytest.mark.soak
def test_a_graph_of_a_hundred_thousand_nodes_is_stepped_and_shown_in_pages(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.abilities = {"supportsProgressReporting": True}
    dialogue.launch("add_99000", graph=f"{script(HUGE)}:huge", stopOnEntry=False)
    title = dialogue.client.wait_event("progressStart").title
    assert title.startswith("Capturing")
    dialogue.stopped("function breakpoint", "add_99000")

    assert len(dialogue.scope("Env")) <= 100
    assert dialogue.value("add_98999.tolist()") == "[99000.0, 99000.0]"
    dialogue.go("next")
    dialogue.stopped("step", "add_99001")
    assert dialogue.stack(levels=1)[0].line == 99_004
    dialogue.break_on("after:op:output")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "output")
    dialogue.go("continue")
    dialogue.ended()


def test_a_thousand_breakpoints_are_set_met_and_removed(connect: Connect, script: Script) -> None:
    dialogue, listing = stopped_in_loop(connect, script)
    names = [f"{op}_{number}" for number in range(1, 500) for op in ("add", "relu")]

    by_name = dialogue.break_on(*names)
    by_line = dialogue.break_at(listing, *lines_of(listing, "add"))

    assert len(by_name) + len(by_line) == 998 + 500
    assert all(each.verified for each in (*by_name, *by_line))
    for name in ("add", "add_1", "relu_1", "add_2"):
        dialogue.go("continue")
        stop = dialogue.client.wait_event("stopped", PATIENCE)
        assert dialogue.stack(levels=1)[0].name.startswith(f"%{name}  ")
        assert stop.hit_breakpoint_ids
    dialogue.break_at(listing)
    dialogue.break_on("relu_499")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "relu_499")


def test_a_flood_of_log_messages_is_complete_and_in_order_and_lets_requests_through(
    connect: Connect, script: Script
) -> None:
    dialogue, listing = stopped_in_loop(connect, script)
    lines = lines_of(listing, "add") + lines_of(listing, "relu")
    logs = [{"line": line, "logMessage": f"line {line}"} for line in sorted(lines)]
    dialogue.break_at(listing, *logs)

    dialogue.go("continue")
    dialogue.client.wait_event("output", PATIENCE, lambda body: f"line {max(lines)}" in body.output)
    assert dialogue.client.request("threads").threads
    dialogue.go("pause")
    dialogue.stopped("pause")

    told = [
        int(line.removeprefix("line "))
        for event in dialogue.client.events
        if event.name == "output" and event.body.output.startswith("line ")
        for line in event.body.output.splitlines()
    ]
    position = dialogue.stack(levels=1)[0].line
    runs, rest = divmod(len(told), len(lines))
    assert told == sorted(lines) * runs + sorted(lines)[:rest]
    # A breakpoint acts before its node runs, and so does a pause.
    assert sorted(lines)[rest - 1] in (position, position - 1)
