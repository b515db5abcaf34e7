"""Breakpoints on lines of listings and of Python source."""

import subprocess
import sys
from pathlib import Path

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.scripts import COUNTED, ONE_RUN, TRACED


def line_of(path: Path, text: str) -> int:
    """The line that begins with a text."""
    lines = path.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip().startswith(text))


def write_listing(environment: dict[str, str], workspace: Path, target: str) -> Path:
    """What `fxdap list` writes, where a session in this workspace looks for it."""
    command = [sys.executable, "-m", "fxdap", "list", target]
    subprocess.run(command, env=environment, cwd=workspace, capture_output=True, check=True)
    [path] = (workspace / ".fxdap" / "graphs").iterdir()
    return path


def test_lines_of_a_listing_written_before_are_bound_by_name(
    connect: Connect, environment: dict[str, str], tmp_path: Path
) -> None:
    model = tmp_path / "m.py"
    model.write_text(TRACED + "def example_inputs():\n    return (torch.ones(2),)\n")
    listing = write_listing(environment, tmp_path, "m.py:graph")
    before = {name: line_of(listing, name) for name in ("%relu", "%mul", "%add")}
    changed = model.read_text().replace("a = x + 1", "a = (x - 3).abs() - 1")
    model.write_text(changed.replace("b * 2", "(b * 2).cos()"))

    dialogue = connect()
    folder = str(tmp_path)
    seq = dialogue.begin(graph="m.py:graph", cwd=folder, workspace=folder, stopOnEntry=False)
    relu, add, mul, header, none = dialogue.break_at(
        listing, before["%relu"], before["%add"], {"line": before["%mul"], "mode": "after"}, 1, 99
    )
    assert relu.verified is True
    assert relu.line == line_of(listing, "%relu") != before["%relu"]
    assert (add.verified, add.reason) == (False, "failed")
    assert add.message == "the graph has no node %add any more"
    assert mul.verified is True
    assert (header.verified, header.line) == (True, line_of(listing, "%x"))
    assert (none.verified, none.message) == (
        False,
        f"no node stands on line 99 of {listing.name} or below",
    )
    locations = dialogue.client.request(
        "breakpointLocations", {"source": {"path": str(listing)}, "line": 1, "endLine": 99}
    )
    node_lines = [n for n, line in enumerate(listing.read_text().splitlines(), 1) if "%" in line]
    assert [each.line for each in locations.breakpoints] == node_lines
    dialogue.run(seq)
    assert dialogue.stopped("breakpoint", "x").hit_breakpoint_ids == [header.id]
    dialogue.go("continue")
    stop = dialogue.stopped("breakpoint", "relu")
    assert stop.hit_breakpoint_ids == [relu.id]
    assert dialogue.stack(levels=1)[0].line == relu.line
    [again] = dialogue.break_at(listing, line_of(listing, "%cos"))
    assert again.verified is True
    dialogue.go("continue")
    dialogue.stopped("breakpoint", "cos")
    dialogue.go("continue")
    dialogue.ended()


def test_in_a_script_a_listing_of_an_earlier_session_is_remapped_when_its_graph_comes(
    connect: Connect, script: Script
) -> None:
    first = connect()
    first.launch(program=script(ONE_RUN))
    first.stopped("entry", "x")
    source = first.stack(levels=1)[0].source
    assert source is not None
    assert source.path is not None
    listing = Path(source.path)
    relu, add = line_of(listing, "%relu"), line_of(listing, "%add")
    first.go("continue")
    first.ended()

    dialogue = connect()
    program = script(ONE_RUN.replace("x + 1", "(x - 3).abs()"))
    seq = dialogue.begin(program=program, stopOnEntry=False)
    answers = dialogue.break_at(listing, relu, add)
    assert [(a.verified, a.reason) for a in answers] == [(False, "pending")] * 2
    assert answers[0].message == "waiting for this graph to run"
    dialogue.run(seq)
    dialogue.stopped("breakpoint", "relu")
    changed = [e.body.breakpoint for e in dialogue.client.events if e.name == "breakpoint"]
    assert [(c.id, c.verified) for c in changed] == [
        (answers[0].id, True),
        (answers[1].id, False),
    ]
    assert changed[0].line == line_of(listing, "%relu") != relu
    assert changed[1].message == "the graph has no node %add any more"
    dialogue.go("continue")
    dialogue.ended()


def test_a_source_line_in_a_loop_over_blocks_stops_once_per_block(
    connect: Connect, sample_models: Path
) -> None:
    dialogue = connect()
    gpt = sample_models / "gpt.py"
    line = line_of(gpt, "x = x + self.attn")
    seq = dialogue.begin(graph="gpt.py:GPT", capture="symbolic_trace", stopOnEntry=False)
    both = dialogue.break_at(gpt, line, line_of(gpt, "def example_inputs"))
    assert (both[0].verified, both[0].message) == (True, "binds to 12 places in the graph")
    assert both[0].line == line
    assert (both[1].verified, both[1].reason) == (False, "failed")
    assert both[1].message == "no node of the graph comes from this line"
    dialogue.run(seq)
    for block in range(3):
        dialogue.stopped("breakpoint", f"blocks_{block}_ln1")
        dialogue.go("continue")
    dialogue.stopped("breakpoint", "blocks_3_ln1")
    dialogue.break_at(gpt)
    dialogue.go("continue")
    dialogue.ended()


def test_a_line_without_nodes_slides_to_the_next_of_its_function(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    program = script(
        ONE_RUN.replace("        a = x", "        # one\n        # two\n        a = x")
    )
    seq = dialogue.begin(program=program, stopOnEntry=False)
    at = line_of(Path(program), "a = x")
    [waiting] = dialogue.break_at(program, at - 2)
    assert (waiting.verified, waiting.reason) == (False, "pending")
    dialogue.run(seq)
    dialogue.stopped("breakpoint", "add")
    changed = dialogue.client.wait_event("breakpoint").breakpoint
    assert (changed.id, changed.verified, changed.line) == (waiting.id, True, at)
    found = dialogue.client.request(
        "breakpointLocations", {"source": {"path": program}, "line": 1, "endLine": 99}
    )
    assert [each.line for each in found.breakpoints] == [at, at + 1, at + 2]
    dialogue.break_at(program, {"line": at + 1, "mode": "after"})
    dialogue.go("continue")
    dialogue.stopped("breakpoint", "relu")
    assert dialogue.value("relu.tolist()") == "[2.0, 2.0]"
    [bad] = dialogue.break_at(program, {"line": at, "mode": "sideways"})
    assert (bad.verified, bad.message) == (
        False,
        "unknown mode 'sideways'; modes: before, after",
    )
    dialogue.go("continue")
    dialogue.ended()


def test_log_points_write_in_order_and_do_not_stop(connect: Connect, script: Script) -> None:
    dialogue = connect()
    program = script(COUNTED)
    seq = dialogue.begin(program=program, stopOnEntry=False)
    path = Path(program)
    bad, *_ = dialogue.break_at(
        program,
        {"line": line_of(path, "return b"), "logMessage": "no { partner"},
        {
            "line": line_of(path, "b = torch"),
            "logMessage": "a={add[0].item()} {{braces}} {nope}",
            "condition": "x[0] < 2",
        },
        {
            "line": line_of(path, "return b"),
            "logMessage": "b {relu.sum():}".replace(":", ""),
            "hitCondition": "% 3",
        },
    )
    assert (bad.verified, bad.reason) == (False, "failed")
    assert bad.message == "log message 'no { partner' has a '{' without its partner"
    dialogue.run(seq)
    dialogue.ended()
    lines = [
        line for line in dialogue.client.output("console").splitlines() if "GraphModule" not in line
    ]
    nope = "<NameError: name 'nope' is not defined>"
    assert lines == [
        f"a=1.0 {{braces}} {nope}",
        f"a=2.0 {{braces}} {nope}",
        "b f32[] cpu  6.0",
        "b f32[] cpu  12.0",
    ]
    logged = [e.body for e in dialogue.client.events if e.name == "output" and e.body.line]
    assert sum(e.output.count("\n") for e in logged) == 4
    assert all(e.source.path.endswith(".fxgraph") for e in logged)


NESTED = """
import torch
from torch import fx

class Body(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = fx.symbolic_trace(Body())
    def forward(self, x):
        return torch.neg(self.body(torch.cos(x)))

class Tracer(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, fx.GraphModule)

model = Model()
module = fx.GraphModule(model, Tracer().trace(model))
for _ in range(2):
    module(torch.ones(2))
"""


def test_what_log_points_write_in_a_nested_graph_stands_under_the_node_that_runs_it(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    seq = dialogue.begin(program=script(NESTED), stopOnEntry=False)
    dialogue.break_on("cos")
    dialogue.run(seq)
    dialogue.stopped("function breakpoint", "cos")
    dialogue.break_on()
    source = dialogue.client.request("loadedSources").sources[0].path
    text = Path(source).read_text().splitlines()
    nodes = ("cos", "relu", "neg")
    lines = {n: 1 + next(i for i, t in enumerate(text) if f"{n} =" in t) for n in nodes}
    dialogue.break_at(source, *({"line": line, "logMessage": n} for n, line in lines.items()))
    dialogue.go("continue")
    dialogue.ended()
    said = [e.body for e in dialogue.client.events if e.name == "output"]
    each = [(b.group, text) for b in said for text in b.output.splitlines() or [""]]
    told = [(group, text) for group, text in each if group or text in lines]
    inside = [("start", "%body"), (None, "relu"), ("end", "")]
    assert told == [*inside, (None, "neg"), (None, "cos"), *inside, (None, "neg")]
