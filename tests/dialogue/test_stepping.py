"""Steps, pauses and threads."""

from fxdap.wire.messages import Thread
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.scripts import FOREVER, TWINS, TWO_GRAPHS, TWO_THREADS


def names(dialogue: Dialogue) -> list[str]:
    return [frame.name for frame in dialogue.stack()]


def test_steps_over_into_and_out_of_nested_graphs(dialogue: Dialogue) -> None:
    dialogue.launch(graph="nested.py:model")
    dialogue.stopped("entry", "x")
    for command, node in [
        ("next", "layer"),
        ("stepIn", "layer/x"),
        ("next", "layer/gate"),
        ("next", "layer/add"),
        ("next", "layer/norm"),
        ("next", "layer/output"),
        ("next", "layer_1"),
        ("stepIn", "layer/x"),
        ("next", "layer/gate"),
        ("stepIn", "layer.gate/x"),
        ("stepIn", "layer.gate/linear"),
    ]:
        dialogue.go(command)
        dialogue.stopped("step", node)
    assert [name for name in names(dialogue) if name.startswith("%")] == [
        "%layer.gate/linear  linear",
        "%layer/gate  gate",
        "%layer_1  layer",
    ]
    for command, node in [("stepOut", "layer/add"), ("stepOut", "head"), ("next", "output")]:
        dialogue.go(command)
        dialogue.stopped("step", node)
    dialogue.go("stepIn")
    dialogue.ended()
    assert "returned f32[2, 3] cpu" in dialogue.client.output("console")


def test_steps_out_of_modules_of_a_flat_graph(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch(
        "blocks_0_attn_qkv", graph="gpt.py:GPT", capture="symbolic_trace", stopOnEntry=False
    )
    dialogue.stopped("function breakpoint", "blocks_0_attn_qkv")
    modules = [(f.name, f.presentation_hint) for f in dialogue.stack()]
    assert [name for name, _ in modules[:5]] == [
        "%blocks_0_attn_qkv  blocks.0.attn.qkv",
        "blocks.0.attn.qkv  Linear",
        "blocks.0.attn  Attention",
        "blocks.0  Block",
        "GPT",
    ]
    for node in ("add_1", "blocks_1_ln1"):
        dialogue.go("stepOut")
        dialogue.stopped("step", node)
    dialogue.go("continue")
    dialogue.ended()


def test_pauses_a_running_script_as_often_as_asked(connect: Connect, script: Script) -> None:
    dialogue = connect()
    dialogue.launch(program=script(FOREVER), stopOnEntry=False)
    dialogue.client.wait_event("thread")
    dialogue.thread = 1
    for _ in range(3):
        dialogue.go("pause")
        stop = dialogue.stopped("pause")
        assert stop.description == "Paused"
        assert dialogue.client.request("threads").threads == [Thread(id=1, name="MainThread")]
        dialogue.go("continue")
        dialogue.go("pause")
        dialogue.stopped("pause")
        dialogue.go("continue")
    dialogue.break_on("output")
    dialogue.stopped("function breakpoint", "output")
    dialogue.evaluate("mul = torch.zeros(2)", "repl")
    dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "rounds True\n"


def test_a_step_off_the_end_lands_in_the_next_graph(connect: Connect, script: Script) -> None:
    dialogue = connect()
    dialogue.launch("output", program=script(TWO_GRAPHS), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "output")
    assert dialogue.value("mul.tolist()") == "[4.0, 4.0]"
    dialogue.go("next")
    dialogue.stopped("step", "x")
    assert "Returned" not in dialogue.scopes()
    dialogue.go("next")
    dialogue.stopped("step", "add")
    assert dialogue.value("x.tolist()") == "[4.0, 4.0]"
    dialogue.break_on()
    dialogue.go("stepOut")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[10.0, 10.0]\n"


def test_one_thread_stops_and_the_other_runs_on(connect: Connect, script: Script) -> None:
    dialogue = connect()
    seq = dialogue.begin(program=script(TWO_THREADS), stopOnEntry=False)
    dialogue.break_on({"name": "relu", "condition": "x.numel() == 2"})
    dialogue.run(seq)
    dialogue.stopped("function breakpoint", "relu")
    stopped = dialogue.thread
    dialogue.client.wait_event("thread", where=lambda body: body.thread_id != stopped)
    listed = {t.name: t.id for t in dialogue.client.request("threads").threads}
    assert listed["slow"] == stopped
    assert dialogue.value("add.tolist()") == "[1.0, 1.0]"
    dialogue.evaluate("import __main__; assert __main__.done.wait(30)", "repl")
    other = next(ident for ident in range(1, 4) if ident != stopped)
    assert dialogue.refused("next", {"threadId": other}) == "notStopped"
    assert "there is no thread 99" in dialogue.refused("next", {"threadId": 99})
    body = dialogue.client.request("continue", {"threadId": stopped})
    assert body.all_threads_continued is True
    dialogue.ended()
    assert dialogue.client.output("stdout") == "quick was done: True\n"


def test_a_request_on_the_heels_of_continue_is_not_left_waiting(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch(program=script(TWO_GRAPHS))
    dialogue.stopped("entry", "x")
    dialogue.client.send("continue", {"threadId": dialogue.thread})
    assert dialogue.refused("stackTrace", {"threadId": dialogue.thread})
    dialogue.ended()


def test_threads_that_begin_the_same_graph_at_once_are_stopped_apart(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("relu", program=script(TWINS), stopOnEntry=False)
    tops, watched = {}, {}
    for _ in range(2):
        dialogue.stopped("function breakpoint", "relu")
        tops[dialogue.thread] = dialogue.frame
        watched[dialogue.thread] = dialogue.evaluate("add").variables_reference
    first, second = tops
    assert len(dialogue.client.request("threads").threads) == 2
    assert tops[first] != tops[second]
    assert watched[first] != watched[second]
    dialogue.thread = first
    dialogue.go("next")
    dialogue.stopped("step", "mul")
    assert dialogue.thread == first
    dialogue.frame = tops[second]
    elements = dialogue.children(watched[second], filter="indexed")
    assert elements["[0]"].value == dialogue.value("add[0].item()")
    for thread in (second, first):
        dialogue.thread = thread
        dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[2.0, 2.0] [4.0, 4.0]\n"
