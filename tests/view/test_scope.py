"""Module scopes, as each tracer records them."""

import pytest
import torch
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func

from fxdap.view.scope import ModuleScope, dotted_path, enclosing_scopes, module_scopes
from fxdap.view.source import user_line


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
        self.shared = Block()

    def forward(self, x):
        x = self.blocks[0](x)
        return self.shared(self.shared(x)) + 1


def scopes_by_name(graph, scopes=module_scopes):
    return {
        node.name: [(scope.path, scope.class_name, scope.call) for scope in scopes(node)]
        for node in graph.nodes
    }


def test_scopes_of_a_symbolic_trace():
    assert scopes_by_name(fx.symbolic_trace(Net()).graph) == {
        "x": [],
        "blocks_0_linear": [("blocks.0", "Block", 0), ("blocks.0.linear", "Linear", 0)],
        "relu": [("blocks.0", "Block", 0)],
        "shared_linear": [("shared", "Block", 0), ("shared.linear", "Linear", 0)],
        "relu_1": [("shared", "Block", 0)],
        "shared_linear_1": [("shared", "Block", 1), ("shared.linear", "Linear", 1)],
        "relu_2": [("shared", "Block", 1)],
        "add": [],
        "output": [],
    }


def test_a_module_call_stands_in_its_caller():
    scopes = scopes_by_name(fx.symbolic_trace(Net()).graph, enclosing_scopes)
    assert scopes["blocks_0_linear"] == [("blocks.0", "Block", 0)]
    assert scopes["relu"] == [("blocks.0", "Block", 0)]


@pytest.mark.parametrize("strict", [False, True])
def test_scopes_of_an_exported_program(strict):
    program = torch.export.export(Net(), (torch.ones(2, 4),), strict=strict)
    scopes = scopes_by_name(program.module().graph)
    assert scopes["linear"] == [("blocks.0", "Block", 0), ("blocks.0.linear", "Linear", 0)]
    assert scopes["relu_1"] == [("shared", "Block", 0)]
    assert scopes["relu_2"] == [("shared", "Block", 1)]
    assert scopes["add"] == scopes["x"] == scopes["_guards_fn"] == []


def test_scopes_of_a_dynamo_graph():
    graphs = []

    def backend(module, inputs):
        graphs.append(module.graph)
        return module

    torch.compile(Net(), backend=backend)(torch.ones(2, 4))
    torch._dynamo.reset()
    scopes = scopes_by_name(graphs[0])
    assert scopes["linear"] == [("blocks.0", "Block", 0), ("blocks.0.linear", "Linear", 0)]
    assert scopes["linear_2"] == [("shared", "Block", 1), ("shared.linear", "Linear", 1)]
    inputs = [node for node in graphs[0].nodes if node.op == "placeholder"]
    assert all(module_scopes(node) == () for node in inputs)


def test_backward_nodes_of_an_aot_graph_stand_in_their_forward_module_and_line():
    graphs = []

    def keep(module, inputs):
        graphs.append(module.graph)
        return make_boxed_func(module.forward)

    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep)
    torch.compile(Net(), backend=backend)(torch.ones(2, 4)).sum().backward()
    torch._dynamo.reset()
    backward = graphs[1]
    scopes = scopes_by_name(backward)
    first = next(node for node in backward.nodes if "threshold_backward" in node.name)
    assert scopes[first.name] == [("shared", "Block", 1)]
    line = user_line(first)
    assert line is not None
    assert line.code == "return torch.relu(self.linear(x))"


def test_a_scope_knows_its_class_in_full():
    node = next(n for n in fx.symbolic_trace(Net()).graph.nodes if n.name == "relu")
    (scope,) = module_scopes(node)
    assert scope == ModuleScope("blocks.0", "Block", f"{__name__}.Block", call=0)


@pytest.mark.parametrize(
    ("recorded", "path"),
    [
        ("", ""),
        ("blocks.0", "blocks.0"),
        ("blocks.0@1", "blocks.0"),
        ("L['self']", ""),
        ("L['self'].blocks.0", "blocks.0"),
        ("L['self']._modules['blocks']._modules['0']", "blocks.0"),
        ("L['self'].blocks[0].fc", "blocks.0.fc"),
        ('L["model"].head', "head"),
        ("G['models']['a'].head", "a.head"),
    ],
)
def test_paths_are_normalised(recorded, path):
    assert dotted_path(recorded) == path


def test_a_stack_that_is_no_stack_is_no_scope():
    graph = fx.Graph()
    node = graph.call_function(torch.relu, (graph.placeholder("x"),))
    odd: list[object] = [None, {}, "blocks.0", []]
    for value in odd:
        node.meta["nn_module_stack"] = value
        assert module_scopes(node) == ()
