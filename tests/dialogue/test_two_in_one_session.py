"""Python and graph in one session, for a client that has no child sessions."""

from fxdap.wire.messages import BreakpointEventBody
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import PATIENCE, Dialogue
from tests.dialogue.python_steps import PROGRAM, SAMPLE, line
from tests.dialogue.scripts import MINE


def in_python(dialogue: Dialogue, reason: str, name: str, at: int) -> None:
    """Expect a stop in Python."""
    body = dialogue.stopped(reason)
    assert body.description == "Paused in Python"
    top = dialogue.stack()[0]
    assert (top.name, top.line) == (name, at)


def shown(dialogue: Dialogue) -> dict[str, str]:
    """The locals of the frame."""
    reference = dialogue.scopes()["Locals"].variables_reference
    return {name: each.value for name, each in dialogue.children(reference).items()}


def test_steps_go_down_into_python_and_back_to_the_graphs_next_node(connect: Connect) -> None:
    graph = connect()
    graph.launch("scale", **PROGRAM)
    graph.stopped("function breakpoint", "scale")
    thread = graph.thread
    before = graph.value("id(relu)")

    graph.go("stepIn")
    in_python(graph, "step", "scale", line("largest = "))
    assert graph.thread == thread
    assert shown(graph) == {"factor": "2.0", "x": "tensor([0., 1., 4.])"}
    assert graph.value("id(x)") == before
    graph.go("next")
    in_python(graph, "step", "scale", line("if largest"))
    assert graph.value("largest.item()") == "4.0"
    assert graph.refused("stepBack", {"threadId": thread}) == (
        "stepBack: the program is stopped in Python"
    )
    old = graph.frame
    graph.go("stepOut")
    graph.stopped("step", "gate")
    assert "graph" in graph.value("str(type(graph))").lower()
    assert graph.refused("evaluate", {"expression": "x", "frameId": old})

    graph.go("stepIn")
    in_python(graph, "step", "forward", line("opening = "))
    graph.client.request(
        "setVariable",
        {
            "variablesReference": graph.scopes()["Locals"].variables_reference,
            "name": "x",
            "value": "x * 0",
        },
    )
    graph.go("continue")
    graph.stopped("step", "clip")
    assert graph.value("gate.tolist()") == "[0.0, 0.0, 0.0]"
    graph.break_on()
    graph.go("continue")
    graph.ended(0)


def test_breakpoints_in_python_stop_the_session(connect: Connect) -> None:
    graph = connect()
    seq = graph.begin(**PROGRAM, python={"debug": True})
    wanted = [line("graph = traced()"), line("return x.clamp")]
    ids = [each.id for each in graph.break_at(SAMPLE, *wanted)]
    graph.run(seq)
    told: dict[int | None, tuple[bool, int | None]] = {}
    while len(told) < 2:
        body: BreakpointEventBody = graph.client.wait_event("breakpoint", PATIENCE)
        told[body.breakpoint.id] = (body.breakpoint.verified, body.breakpoint.line)
    assert told == {ident: (True, number) for ident, number in zip(ids, wanted, strict=True)}

    assert graph.stopped("breakpoint").hit_breakpoint_ids == [ids[0]]
    assert [frame.line for frame in graph.stack()] == [wanted[0]]
    graph.break_on("clip")
    graph.go("continue")
    graph.stopped("function breakpoint", "clip")
    graph.go("next")
    in_python(graph, "breakpoint", "clip", wanted[1])
    assert shown(graph)["low"] == "-0.75"
    graph.break_at(SAMPLE)
    graph.break_on()
    graph.go("continue")
    graph.stopped("step", "add")
    graph.go("continue")
    graph.ended(0)


IN_TWO_THREADS = f"""{MINE}
import threading

def alone():
    text = "no graph here"
    print(text)

graph(torch.zeros(1))
thread = threading.Thread(target=alone, name="alone")
thread.start()
graph(torch.ones(1))
thread.join()
"""


def test_a_thread_without_graphs_is_told_from_one_that_has_a_graph(
    connect: Connect, script: Script
) -> None:
    graph = connect()
    program = script(IN_TWO_THREADS)
    graph.launch("mine", program=program, stopOnEntry=False)
    graph.stopped("function breakpoint", "mine")
    main = graph.thread
    graph.go("stepIn")
    in_python(graph, "step", "mine", 6)
    graph.break_at(program, 18)
    graph.go("continue")
    graph.stopped("step", "relu")
    graph.go("continue")
    stops = [graph.client.wait_event("stopped", PATIENCE) for _ in range(2)]
    (other,) = {stop.thread_id for stop in stops} - {main}
    listed = {thread.id: thread.name for thread in graph.client.request("threads").threads}
    assert listed == {main: "MainThread", other: "alone"}
    tops = {}
    for graph.thread in (main, other):
        tops[graph.thread] = graph.stack()[0].name
    assert tops == {main: "%mine  __main__.mine", other: "alone"}
    body = graph.client.request("continue", {"threadId": main})
    assert body.all_threads_continued is False
    graph.go("continue")
    graph.ended(0)


def test_graphs_that_are_evaluated_in_python_run_through(connect: Connect, script: Script) -> None:
    graph = connect()
    graph.launch("mine", program=script(IN_TWO_THREADS), stopOnEntry=False)
    graph.stopped("function breakpoint", "mine")
    graph.go("stepIn")
    in_python(graph, "step", "mine", 6)
    assert graph.value("graph(torch.ones(1)).tolist()") == "[4.0]"
    graph.go("stepOut")
    graph.stopped("step", "relu")
    graph.break_on()
    graph.go("continue")
    graph.ended(0)
    assert graph.client.output("stdout") == "no graph here\n"
