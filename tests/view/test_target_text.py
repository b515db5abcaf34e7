"""Names of what nodes call."""

import gc
import math
import operator
import weakref

import pytest
import torch
from torch import fx, nn
from torch.nn import functional as F

from fxdap.view.target_text import callable_name, class_name, target_name, target_names


def user_function(x):
    return x


class Scale(nn.Module):
    def forward(self, x):
        return x


class Operators:
    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.relu, "torch.relu"),
        (F.relu, "torch.nn.functional.relu"),
        (F.gelu, "torch.nn.functional.gelu"),
        (F.linear, "torch.nn.functional.linear"),
        (F.max_pool2d, "torch.nn.functional.max_pool2d"),
        (torch.conv2d, "torch.conv2d"),
        (torch.einsum, "torch.einsum"),
        (torch.linalg.norm, "torch.linalg.norm"),
        (torch.special.erf, "torch.special.erf"),
        (torch.Tensor.add_, "torch.Tensor.add_"),
        (torch.Tensor.norm, "torch.Tensor.norm"),
        (torch.ops.aten.add.Tensor, "aten.add.Tensor"),
        (torch.ops.aten.add, "aten.add"),
        (torch.ops.higher_order.cond, "cond"),
        (operator.add, "operator.add"),
        (operator.getitem, "operator.getitem"),
        (math.floor, "math.floor"),
        (getattr, "getattr"),
        (torch.Tensor.__add__, "torch.Tensor.__add__"),
        (torch.autograd.Function.apply, "torch.autograd.function.Function.apply"),
        (torch.ones(2).add, "torch.Tensor.add"),
        (user_function, f"{__name__}.user_function"),
        (Scale, f"{__name__}.Scale"),
        (nn.Linear, "torch.nn.Linear"),
        (Operators(), f"{__name__}.Operators"),
    ],
)
def test_a_function_has_the_name_its_user_writes(function, name):
    assert callable_name(function) == name


def test_a_name_holds_no_object_address():
    def closure(x):
        return x

    targets = [closure, lambda x: x, Operators(), torch.relu, torch.ops.aten.add.Tensor]
    assert not [name for name in map(callable_name, targets) if "0x" in name]


def _one_node(build):
    graph = fx.Graph()
    return build(graph, graph.placeholder("x"))


def test_an_operator_is_selected_by_every_usual_spelling():
    node = _one_node(lambda graph, x: graph.call_function(torch.ops.aten.add.Tensor, (x, 1)))
    assert target_names(node) == (
        "aten.add.Tensor",
        "aten.add",
        "torch.ops.aten.add.Tensor",
        "torch.ops.aten.add",
        "add",
    )


def test_a_functional_is_selected_by_its_short_names():
    node = _one_node(lambda graph, x: graph.call_function(F.gelu, (x,)))
    names = ("torch.nn.functional.gelu", "F.gelu", "torch._C._nn.gelu", "gelu")
    assert target_names(node) == names


def test_a_function_torch_exports_twice_has_both_names():
    node = _one_node(lambda graph, x: graph.call_function(torch.conv2d, (x,)))
    assert {"torch.conv2d", "torch.nn.functional.conv2d", "conv2d"} <= set(target_names(node))


def test_a_method_is_shown_with_a_dot_and_selected_without():
    node = _one_node(lambda graph, x: graph.call_method("chunk", (x, 2)))
    assert target_name(node) == ".chunk"
    assert target_names(node) == (".chunk", "chunk", "torch.Tensor.chunk", "Tensor.chunk")


def test_a_module_call_is_selected_by_path_and_class():
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    node = next(node for node in module.graph.nodes if node.op == "call_module")
    names = ("0", "torch.nn.Linear", "torch.nn.modules.linear.Linear", "Linear")
    assert target_names(node) == names


def test_a_module_call_without_a_known_module_keeps_its_path():
    node = _one_node(lambda graph, x: graph.call_module("block.fc1", (x,)))
    assert target_names(node) == ("block.fc1",)


def test_classes_are_named_as_users_import_them():
    assert class_name(dict) == "dict"
    assert class_name(fx.Node) == "torch.fx.Node"
    assert class_name(type(fx.symbolic_trace(Scale()))) == "torch.fx.GraphModule"


def test_naming_a_function_does_not_keep_it_alive():
    def closure(x):
        return x

    kept = weakref.ref(closure)
    tensor = torch.ones(2)
    kept_tensor = weakref.ref(tensor)
    callable_name(closure)
    callable_name(tensor.add)
    del closure, tensor
    gc.collect()
    assert kept() is None
    assert kept_tensor() is None


def test_functions_that_share_their_c_code_keep_their_own_names() -> None:
    shared = [torch.dsmm, torch.mm, torch.hsmm]
    assert torch.dsmm == torch.mm
    assert [callable_name(f) for f in shared] == ["torch.dsmm", "torch.mm", "torch.hsmm"]


def test_functions_bound_by_pybind_are_named_by_their_module():
    assert callable_name(torch._C._functorch._grad_increment_nesting) == (
        "torch._C._functorch._grad_increment_nesting"
    )
