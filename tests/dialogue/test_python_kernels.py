"""Step In on each kind of Python that torch calls for the user: kernels, subclasses, overrides."""

from tests.dialogue.conftest import Connect, Script
from tests.dialogue.dialogue import Dialogue

PROGRAM = """\
import torch
from torch import fx, nn
from torch._subclasses import FakeTensorMode
from torch.library import Library

ours, aten = Library("kernels", "DEF"), Library("aten", "IMPL")
ours.define("twice(Tensor x) -> Tensor")

def twice_on_cpu(x):
    return x * 2

def negative_on_cpu(x):
    return x * -1

def twice_shape(x):
    return torch.empty_like(x)

ours.impl("twice", twice_on_cpu, "CPU")
aten.impl("neg", negative_on_cpu, "CPU")
torch.library.register_fake("kernels::twice", twice_shape)

@torch.library.custom_op("kernels::clip", mutates_args=())
def clip(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-1, 1)

@torch.library.custom_op("kernels::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    return x / 2

@half.register_kernel("cpu")
def half_on_cpu(x):
    return x * 0.5

class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})

@fx.wrap
def loud(x):
    return x.as_subclass(Loud)

class Leaf(nn.Module):
    def forward(self, x):
        return x + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, x):
        x = torch.ops.kernels.twice(x)
        x = torch.ops.aten.neg.default(x)
        x = torch.ops.kernels.clip.default(x)
        x = torch.ops.kernels.half(x)
        x = self.leaf(x)
        x = loud(x)
        return torch.relu(x)

class Tracer(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, Leaf)

class OfNodes(fx.Interpreter):
    def run_node(self, node):
        return super().run_node(node)

class OfModules(fx.Interpreter):
    def call_module(self, target, args, kwargs):
        return super().call_module(target, args, kwargs)

model = Model()
graph = fx.GraphModule(model, Tracer().trace(model))
with FakeTensorMode() as mode:
    torch.ops.kernels.twice(torch.empty(2))
print(graph(torch.tensor([0.25, 3.0])).tolist())
OfNodes(graph).run(torch.ones(2))
OfModules(graph).run(torch.ones(2))
"""
LINES = PROGRAM.splitlines()


def line(text: str) -> int:
    return next(number for number, each in enumerate(LINES, 1) if text in each)


def stops_in(dialogue: Dialogue, name: str, text: str, reason: str = "step") -> None:
    """Expect a stop in a Python function, on the line that has a text."""
    assert dialogue.stopped(reason).description == "Paused in Python"
    top = dialogue.stack()[0]
    assert (top.name.rpartition(".")[2], top.line) == (name, line(text))


def test_step_in_enters_whatever_python_a_node_runs(connect: Connect, script: Script) -> None:
    dialogue = connect()
    program = script(PROGRAM)
    seq = dialogue.begin(program=program, stopOnEntry=False, python={"debug": True})
    dialogue.break_at(program, line("torch.empty_like"))
    dialogue.break_on("twice")
    dialogue.run(seq)
    # A run that only computes shapes never stops as a graph; its kernels stop as Python.
    stops_in(dialogue, "twice_shape", "torch.empty_like", "breakpoint")
    dialogue.go("continue")

    dialogue.stopped("function breakpoint", "twice")
    assert "x ← %x" in dialogue.scope("Node")
    for function, text, following in [
        ("twice_on_cpu", "return x * 2", "neg_default"),
        ("negative_on_cpu", "return x * -1", "clip_default"),
        ("clip", "return x.clamp", "half"),
        ("half_on_cpu", "return x * 0.5", "leaf"),
        ("forward", "return x + 1", "loud"),
        ("loud", "as_subclass", "relu"),
        ("__torch_function__", "super().__torch_function__", "output"),
    ]:
        dialogue.go("stepIn")
        stops_in(dialogue, function, text)
        dialogue.go("stepOut")
        dialogue.stopped("step", following)

    for function, text, node in [
        ("run_node", "super().run_node", "leaf"),
        ("call_module", "super().call_module", "leaf"),
    ]:
        dialogue.break_on(node)
        dialogue.go("continue")
        dialogue.stopped("function breakpoint", node)
        dialogue.go("stepIn")
        stops_in(dialogue, function, text)
        dialogue.go("stepOut")
        dialogue.stopped("step", "loud")
    dialogue.break_on()
    dialogue.go("continue")
    dialogue.ended()
    assert "[0.75, 0.5]" in dialogue.client.output("stdout")
