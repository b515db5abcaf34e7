"""How sessions end: what the user's program still does, and what stays of the debugger."""

from tests.dialogue.conftest import Connect, Listen, Script
from tests.dialogue.scripts import TRACED

GUARDED = f"""\
import os, time
{TRACED}
try:
    graph(torch.ones(2))
    os.write(1, b"looping\\n")
    time.sleep(600)
finally:
    print("cleaned up")
"""

REFERENCES = """
import gc, sys, types, weakref
import torch, torch.fx, torch._dynamo, fxdap

seen = []


def functions():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("torch", "__main__"):
            for key, value in list(vars(module).items()):
                found[name, key] = value
                for inner, part in list(vars(value).items()) if type(value) is type else ():
                    found[name, key, inner] = part
    kinds = (types.FunctionType, types.BuiltinFunctionType, type, staticmethod, classmethod)
    return {key: value for key, value in found.items() if type(value) in kinds}


class Own(torch.fx.Interpreter):
    def run_node(self, n):
        return super().run_node(n)


def note(value):
    seen.append(weakref.ref(value))
    return value + 1


def forward(x):
    return note(note(note(x * 2)))


torch.fx.wrap("note")
graph = torch.fx.symbolic_trace(forward)
before = functions()
fxdap.listen(token="secret")
fxdap.wait_for_client()
fxdap.breakpoint()
Own(graph).run(torch.ones(2))
graph(torch.ones(2))
input()
gc.collect()
print("seen", len(seen) >= 6, "alive", sum(ref() is not None for ref in seen), flush=True)
now = functions()
print([key for key, value in before.items() if now[key] is not value], flush=True)
"""


def test_terminate_lets_the_program_clean_up_wherever_it_is(
    connect: Connect, script: Script
) -> None:
    program = script(GUARDED)
    dialogue = connect()
    dialogue.launch(program=program)
    dialogue.stopped("entry", "x")
    dialogue.client.request("terminate")
    dialogue.ended(0)
    assert dialogue.client.output("stdout") == "cleaned up\n"

    dialogue = connect()
    dialogue.launch(program=program, stopOnEntry=False)
    dialogue.client.wait_event("output", 60, where=lambda body: "looping" in body.output)
    dialogue.client.request("terminate")
    dialogue.client.wait_event("terminated", 20)
    assert dialogue.client.output("stdout") == "looping\ncleaned up\n"


IN_A_NODE = """\
import time
import torch

@torch.fx.wrap
def endless(x):
    print("looping", flush=True)
    try:
        while True:
            time.sleep(0.005)
    finally:
        print("node cleaned up")

graph = torch.fx.symbolic_trace(lambda x: endless(x) + 1)
try:
    graph(torch.ones(2))
finally:
    print("cleaned up")
"""


def test_terminate_ends_a_python_loop_inside_of_a_node_in_order(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch(program=script(IN_A_NODE), stopOnEntry=False)
    dialogue.client.wait_event("output", 60, where=lambda body: "looping" in body.output)
    dialogue.client.request("terminate")
    dialogue.ended(0)
    assert dialogue.client.output("stdout") == "looping\nnode cleaned up\ncleaned up\n"


SLOW_TO_CLEAN_UP = f"""\
import time
{TRACED}

class Own(fx.Interpreter):
    def run(self, *args):
        try:
            return super().run(*args)
        finally:
            time.sleep(1.5)
            print("run cleaned up")

try:
    Own(graph).run(torch.ones(2))
finally:
    print("cleaned up")
"""
"""Its `run` takes longer to end than a node is given before it is unwound from within."""


def test_terminate_leaves_a_run_that_it_has_unwound_time_to_clean_up(
    connect: Connect, script: Script
) -> None:
    dialogue = connect()
    dialogue.launch("relu", program=script(SLOW_TO_CLEAN_UP), stopOnEntry=False)
    dialogue.stopped("function breakpoint", "relu")
    dialogue.client.request("terminate")
    dialogue.ended(0)
    assert dialogue.client.output("stdout") == "run cleaned up\ncleaned up\n"


def test_no_value_and_no_patch_outlives_the_session(listen: Listen) -> None:
    listening = listen(REFERENCES)
    dialogue = listening.connect()
    dialogue.initialize()
    dialogue.attach()
    dialogue.stopped("entry", "x")
    dialogue.break_on("output")
    for _ in ("own", "graph"):
        dialogue.go("continue")
        dialogue.stopped("function breakpoint", "output")
        dialogue.client.request("setExpression", {"expression": "mul", "value": "mul + 1"})
        for _ in range(3):
            dialogue.go("stepBack")
            dialogue.stopped("step")
        dialogue.go("continue")
        dialogue.stopped("function breakpoint", "output")
    dialogue.evaluate("mul.add_(1)", "repl")
    for name in ("note", "note_1", "mul"):
        watched = dialogue.evaluate(name, "watch")
        dialogue.children(watched.variables_reference)
        dialogue.evaluate(f"kept_{name} = {name}", "repl")
    dialogue.children(dialogue.scopes()["Env"].variables_reference)
    dialogue.client.request("disconnect")
    listening.tell("go on")
    assert listening.lines(2) == ["seen True alive 0", "[]"]
    dialogue.close()
