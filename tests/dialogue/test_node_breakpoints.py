"""Function breakpoints: selectors, conditions, hit counts, and what the client is told of them."""

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.scripts import COUNTED, ONE_RUN


def test_every_kind_of_selector_says_what_it_matches(connect: Connect) -> None:
    dialogue = connect()
    seq = dialogue.begin(graph="gpt.py:GPT", capture="symbolic_trace", stopOnEntry=False)
    answers = {
        "blocks_0_fc1": "taken as node name 'blocks_0_fc1': matches 1 node",
        "blocks_*_fc1": "taken as node name 'blocks_*_fc1': matches 12 nodes",
        "call_module": "taken as opcode 'call_module': matches 76 nodes",
        "gelu": None,
        "op:placeholder": "matches 1 node",
        "target:chunk": "matches 12 nodes",
        "module:blocks.3.attn": None,
        "module:blocks.*.attn op:call_module": None,
        "class:Attention target:chunk": "matches 12 nodes",
        "graph:GPT op:output": "matches 1 node",
        "graph:other op:output": False,
        "/chunk/ module:blocks.1": None,
        "source:gpt.py:34": None,
        "op:call_module !module:blocks": None,
        "after:op:output": "matches 1 node",
        "nothing_like_it": False,
    }
    for selector, wanted in answers.items():
        [answer] = dialogue.break_on(selector)
        assert answer.verified is (wanted is not False), answer
        if isinstance(wanted, str):
            assert answer.message == wanted
    [gone] = dialogue.break_on("nothing_like_it")
    assert gone.message == (
        "tried as node name, opcode and target: 'nothing_like_it' matches no node of GPT"
    )
    bad = {
        "color:red": "unknown selector kind 'color:' in 'color:red'; known: op:, target:",
        "op:call_me": "unknown opcode 'call_me'; opcodes: placeholder,",
        "source:gpt.py": "source: needs FILE:LINE, got 'gpt.py'",
        "/(/": "bad regular expression /(/",
        "": "empty selector: write a node name",
        "module:": "'module:' needs a value, such as 'module:layers.0'",
    }
    for answer, reason in zip(dialogue.break_on(*bad), bad.values(), strict=True):
        assert answer.verified is False
        assert reason in (answer.message or "")
    dialogue.break_on("module:blocks.11", "after:op:output")
    dialogue.run(seq)
    dialogue.stopped("function breakpoint", "blocks_11_ln1")
    dialogue.break_on("after:op:output")
    dialogue.go("continue")
    stop = dialogue.stopped("function breakpoint", "output")
    assert stop.hit_breakpoint_ids is not None
    assert list(dialogue.scope("Returned")) == ["output"]
    dialogue.go("continue")
    dialogue.ended()


def test_bad_conditions_are_refused_with_the_remedy(connect: Connect) -> None:
    dialogue = connect()
    seq = dialogue.begin(graph="mlp.py:MLP", stopOnEntry=False)
    answers = dialogue.break_on(
        {"name": "relu", "condition": "x >"},
        {"name": "relu", "hitCondition": "often"},
        {"name": "relu", "hitCondition": "% 0"},
        {"name": "relu", "condition": "True"},
    )
    assert [a.verified for a in answers] == [False, False, False, True]
    assert [a.reason for a in answers] == ["failed", "failed", "failed", None]
    assert "condition 'x >' is not a Python expression" in (answers[0].message or "")
    assert "hit condition 'often' is not understood: write a number" in (answers[1].message or "")
    assert "hit condition '% 0' is not understood" in (answers[2].message or "")
    assert len({a.id for a in answers}) == 4
    dialogue.run(seq)
    stop = dialogue.stopped("function breakpoint", "relu")
    assert stop.hit_breakpoint_ids == [answers[3].id]
    dialogue.go("continue")
    dialogue.ended()


def test_conditions_and_hit_counts_decide_over_many_runs(
    dialogue: Dialogue, script: Script
) -> None:
    seq = dialogue.begin(program=script(COUNTED), stopOnEntry=False)
    dialogue.break_on(
        {"name": "relu", "condition": "add[0].item() == 2"},
        {"name": "mul", "condition": "mul.max() > 6", "hitCondition": "2"},
        {"name": "output", "condition": "no_such_name"},
    )
    dialogue.run(seq)
    stops = []
    for _ in range(8):
        stop = dialogue.stopped("function breakpoint")
        node = dialogue.stack(levels=1)[0].name.split()[0]
        stops.append((node, dialogue.value("x[0].item()"), stop.text))
        dialogue.go("continue")
    why = "condition 'no_such_name' raised NameError: name 'no_such_name' is not defined"
    assert stops == [
        ("%output", "0.0", why),
        ("%relu", "1.0", None),
        ("%output", "1.0", why),
        ("%output", "2.0", why),
        ("%output", "3.0", why),
        ("%mul", "4.0", None),
        ("%output", "4.0", why),
        ("%output", "5.0", why),
    ]
    dialogue.ended()
    assert "[42.0, 42.0]" in dialogue.client.output("stdout")


def test_node_breakpoints_of_the_configuration_stop_like_function_breakpoints(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch(
        program=script(ONE_RUN),
        stopOnEntry=False,
        nodeBreakpoints=["target:torch.relu", "op:nonsense"],
    )
    dialogue.stopped("function breakpoint", "relu")
    assert "nodeBreakpoints: unknown opcode 'nonsense'" in dialogue.client.output("important")
    dialogue.break_on()
    dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[4.0, 4.0]\n"


def test_in_a_script_breakpoints_wait_for_their_graph(connect: Connect, script: Script) -> None:
    dialogue = connect()
    seq = dialogue.begin(program=script(ONE_RUN), stopOnEntry=False)
    pending, wrong = dialogue.break_on("relu", "not_there")
    assert (pending.verified, pending.reason) == (False, "pending")
    assert pending.message == "waiting for a graph to run"
    assert (wrong.verified, wrong.reason) == (False, "pending")
    dialogue.run(seq)
    stop = dialogue.stopped("function breakpoint", "relu")
    assert stop.hit_breakpoint_ids == [pending.id]
    events = [e for e in dialogue.client.events if e.name in ("breakpoint", "stopped")]
    assert [e.name for e in events] == ["breakpoint", "breakpoint", "stopped"]
    changed = {e.body.breakpoint.id: e.body.breakpoint for e in events[:2]}
    assert {e.body.reason for e in events[:2]} == {"changed"}
    assert changed[pending.id].verified is True
    assert changed[pending.id].message == "taken as node name 'relu': matches 1 node"
    assert (changed[wrong.id].verified, changed[wrong.id].reason) == (False, "failed")
    dialogue.go("continue")
    dialogue.ended()


def test_breakpoints_can_be_moved_while_stopped_and_keep_their_ids(connect: Connect) -> None:
    ids = []
    for _ in range(2):
        dialogue = connect()
        dialogue.launch(graph="mlp.py:MLP", capture="symbolic_trace")
        dialogue.stopped("entry", "x")
        both = dialogue.break_on("relu", "relu")
        assert both[0].id != both[1].id
        [moved] = dialogue.break_on("softmax")
        again, other = dialogue.break_on("relu", "softmax")
        assert (again.id, other.id) == (both[0].id, moved.id)
        ids.append((again.id, other.id))
        dialogue.go("continue")
        stop = dialogue.stopped("function breakpoint", "relu")
        assert stop.hit_breakpoint_ids == [again.id]
        dialogue.break_on()
        dialogue.go("continue")
        dialogue.ended()
    assert ids[0] == ids[1]
