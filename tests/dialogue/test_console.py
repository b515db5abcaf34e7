"""Evaluating in all contexts, completing, and cancelling."""

import pytest

from fxdap.wire.client import RequestFailed
from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.scripts import TRACED

MODES = (
    TRACED
    + """\
with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
    print(graph(torch.ones(2)).tolist())
"""
)


def test_evaluates_in_every_context(dialogue: Dialogue, script: Script) -> None:
    dialogue.launch("mul", program=script(MODES), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "mul")
    for context in ("watch", "repl", "variables", "hover"):
        body = dialogue.evaluate("relu", context)
        assert (body.result.split("  ")[0], body.type) == ("f32[2] cpu", "torch.Tensor")
        assert body.indexed_variables == 2
        assert list(dialogue.children(body.variables_reference, filter="indexed")) == ["[0]", "[1]"]
        assert dialogue.evaluate("%relu", context).result == body.result
    assert dialogue.evaluate("relu", "clipboard").result == "tensor([2., 2.])"
    assert dialogue.evaluate("'text' * 2", "clipboard").result == "texttext"
    long = dialogue.evaluate("torch.arange(3000)", "clipboard").result
    assert "2999" in long
    assert "..." not in long
    for expression, value in {
        "node.name": "'mul'",
        "args[0].tolist(), args[1], kwargs": "([2.0, 2.0], 2, {})",
        "env['add'].tolist() == env[node.args[0].args[0]].tolist()": "True",
        "len(graph.nodes)": "5",
        "type(module).__name__": "'Model'",
        "[v.sum().item() for v in (x, relu)]": "[2.0, 4.0]",
        "(lambda: relu)() is relu": "True",
        "torch.is_inference_mode_enabled(), torch.is_autocast_enabled('cpu')": "(True, True)",
        "torch.is_grad_enabled()": "False",
        "(torch.ones(2, 2) @ torch.ones(2, 2)).dtype": "torch.bfloat16",
    }.items():
        assert dialogue.value(expression) == value
    dialogue.client.request("disconnect")


def test_statements_keep_names_and_change_what_later_nodes_read(
    dialogue: Dialogue, script: Script
) -> None:
    dialogue.launch(
        "mul", program=script(TRACED + "print(graph(torch.ones(2)).tolist())"), stopOnEntry=False
    )
    dialogue.stopped("function breakpoint", "mul")
    for text in (
        "import math",
        "def double(v):\n    return v * 2\n",
        "kept = double(math.pi)",
        "for i in range(3):\n    kept += i",
    ):
        assert dialogue.evaluate(text, "repl").result == ""
    assert dialogue.value("round(kept, 2)") == "9.28"
    dialogue.evaluate("relu = double(relu)", "repl")
    assert dialogue.value("relu.tolist()") == "[4.0, 4.0]"
    dialogue.evaluate("x.zero_()", "repl")
    dialogue.go("next")
    dialogue.stopped("step", "output")
    assert dialogue.value("mul.tolist(), round(kept, 2)") == "([8.0, 8.0], 9.28)"
    errors = {
        "1 +": "SyntaxError",
        "no_such_name": "NameError: name 'no_such_name' is not defined",
        "relu.nope": "AttributeError: 'Tensor' object has no attribute 'nope'",
        "output": "%output has not run yet",
        "exit(3)": "SystemExit: 3",
        "raise KeyError('k')": "KeyError: 'k'",
        "output = 1": "%output has not run yet",
    }
    for expression, message in errors.items():
        with pytest.raises(RequestFailed) as failure:
            dialogue.evaluate(expression, "repl")
        assert failure.value.message.startswith(message)
    dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[8.0, 8.0]\n"


def test_a_released_value_says_that_it_is(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch(
        "output",
        graph="mlp.py:MLP",
        capture="symbolic_trace",
        keepValues="needed",
        stopOnEntry=False,
    )
    dialogue.stopped("function breakpoint", "output")
    with pytest.raises(RequestFailed, match="%relu was released: no later node reads it"):
        dialogue.value("relu")
    assert dialogue.scope("Env")["relu"].value == "released"
    dialogue.go("continue")
    dialogue.ended()


def test_completes_names_and_attributes(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("softmax", graph="mlp.py:MLP", capture="symbolic_trace", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "softmax")

    def complete(text: str, line: int = 1) -> dict[str, tuple[int | None, int | None]]:
        column = len(text.split("\n")[line - 1]) + 1
        body = dialogue.client.request(
            "completions",
            {"text": text, "column": column, "line": line, "frameId": dialogue.frame},
        )
        return {item.label: (item.start, item.length) for item in body.targets}

    assert complete("fc") == {"fc1": (0, 2), "fc2": (0, 2)}
    assert complete("%re") == {"relu": (1, 2)}
    assert "softmax" not in complete("s")
    assert complete("1 + relu.sha")["shape"] == (9, 3)
    assert "is_contiguous" in complete("(fc1, relu.is_co")
    assert set(complete("mod")) == {"module"}
    assert "fc1" in complete("module.f")
    assert not [name for name in complete("relu.") if name.startswith("_")]
    assert complete("nothing.x") == {}
    assert complete("relu[0].re") == {}
    assert complete("relu.sum().re") == {}
    assert "relu" in complete("x = 1\nre", 2)
    dialogue.client.request("disconnect")


def test_cancels_what_runs_and_what_waits(dialogue: Dialogue, script: Script) -> None:
    dialogue.launch(
        "mul", program=script(TRACED + "print(graph(torch.ones(2)).tolist())"), stopOnEntry=False
    )
    dialogue.stopped("function breakpoint", "mul")
    client, frame = dialogue.client, dialogue.frame

    def evaluate(expression: str) -> int:
        return client.send(
            "evaluate", {"expression": expression, "frameId": frame, "context": "repl"}
        )

    def cancel(seq: int) -> None:
        client.request("cancel", {"requestId": seq})

    forever = evaluate("while True: pass")
    waiting, kept = evaluate("1 + 1"), evaluate("2 + 2")
    cancel(waiting)
    cancel(forever)
    for seq in (forever, waiting):
        with pytest.raises(RequestFailed) as failure:
            client.wait_response(seq)
        assert failure.value.message == "cancelled"
    assert client.wait_response(kept).result == "4"
    for _ in range(20):
        loop = evaluate("while True: pass")
        cancel(loop)
        with pytest.raises(RequestFailed, match="cancelled"):
            client.wait_response(loop)
        assert dialogue.value("relu.tolist()") == "[2.0, 2.0]"
    blocked = evaluate("import os, time; os.write(1, b'blocked\\n'); time.sleep(600)")
    client.wait_event("output", where=lambda body: "blocked" in body.output)
    cancel(blocked)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.wait_response(blocked)
    counting = evaluate("n = 0\nwhile n < 200_000: n += 1")
    cancel(evaluate("n = 'overwritten'"))
    client.wait_response(counting)
    assert dialogue.value("n") == "200000"
    cancel(counting)
    dialogue.go("continue")
    dialogue.ended()
    assert client.output("stdout") == "blocked\n[4.0, 4.0]\n"


def test_graphs_that_the_console_runs_do_not_stop(connect: Connect, script: Script) -> None:
    dialogue = connect()
    program = script(TRACED + "print(graph(torch.ones(2)).tolist())")
    seq = dialogue.begin(program=program, stopOnEntry=False)
    calling = "module(torch.zeros(1)) == 2"
    dialogue.break_on(
        "add",
        {"name": "relu", "hitCondition": "2"},
        {"name": "after:mul", "condition": calling},
    )
    dialogue.run(seq)
    dialogue.stopped("function breakpoint", "add")
    assert dialogue.evaluate("module(torch.zeros(1)).item()", "repl").result == "2.0"
    assert dialogue.evaluate("torch.fx.Interpreter(module).run(x).tolist()").result == "[4.0, 4.0]"
    with pytest.raises(RequestFailed, match="TypeError"):
        dialogue.evaluate("module('text')", "repl")
    assert dialogue.stack(levels=1)[0].id == dialogue.frame
    dialogue.go("next")
    dialogue.stopped("step", "relu")
    dialogue.go("continue")
    dialogue.stopped("function breakpoint", "mul")
    dialogue.go("continue")
    dialogue.ended()
    assert dialogue.client.output("stdout") == "[4.0, 4.0]\n"
