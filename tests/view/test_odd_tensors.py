"""Tensors that are not what they seem: one honest line each, and they flow through a graph."""

import subprocess
import sys
import warnings

import pytest
import torch
from torch import fx

from fxdap.server.env_tree import env_items
from fxdap.server.node_scope import node_items
from fxdap.view.children import children, count_children, indexed_children
from fxdap.view.summary import summarize
from tests.engine.driver import Driver
from tests.view.odd_tensors import ODD_TENSORS, Asked, HostileDispatch

pytestmark = pytest.mark.filterwarnings("ignore")

LINES = {
    "fake": "f32[2, 3] cpu  FakeTensor",
    "fake parameter": "f32[2, 3] cpu  FakeTensor",
    "meta": "f32[2, 3] meta",
    "meta parameter": "f32[2, 3] meta  Parameter",
    "coo": "f32[3, 3] cpu  sparse_coo nnz 3  min 1  max 1  mean 1",
    "coo uncoalesced": "f32[3] cpu  sparse_coo nnz 2  min 1  max 2  mean 1.5",
    "coo meta": "f32[3, 3] meta  sparse_coo nnz 0",
    "csr": "f32[3, 3] cpu  sparse_csr nnz 3  min 1  max 1  mean 1",
    "csc": "f32[3, 3] cpu  sparse_csc nnz 3  min 1  max 1  mean 1",
    "bsr": "f32[4, 4] cpu  sparse_bsr nnz 2  min 0  max 1  mean 0.5",
    "quantized": "quint8[2, 3] cpu  quantized scale 0.1 zero_point 1",
    "quantized per channel": "qint8[2, 3] cpu  quantized per_channel_affine",
    "nested strided": "f32[2, *, 4] cpu  nested, 2 parts",
    "complex": "c64[2] cpu  abs  min 2.236  max 3  mean 2.618",
    "complex conjugated": "c64[2] cpu  abs  min 2.236  max 3  mean 2.618",
    "imaginary part": "f32[2] cpu  min -3  max -2  mean -2.5",
    "float8": "f8e4m3fn[2] cpu  min 1  max 1  mean 1",
    "uint16": "u16[2] cpu  min 1  max 1  mean 1",
    "named subclass": "f32[2, 3] cpu  Named  min 1  max 1  mean 1",
    "hostile repr": "f32[2, 3] cpu  HostileRepr  min 1  max 1  mean 1",
    "hostile function": "f32[2, 3] cpu  HostileFunction  min 1  max 1  mean 1",
    "hostile dispatch": "f32[2, 3] cpu  HostileDispatch",
    "hostile attributes": (
        "<tests.view.odd_tensors.HostileAttributes, not readable: RuntimeError: no dtype>"
    ),
    "two tensors": "f32[2, 3] cpu  TwoTensor",
    "escaped from vmap": (
        "f32[3] cpu  vmap level 1, batched in dim 0 of f32[2, 3]  min 0  max 10  mean 5"
    ),
    "functional": "f32[2] cpu  functional",
    "mkldnn": "f32[2, 3] cpu  mkldnn",
    "lazy parameter": "f32[?] cpu  UninitializedParameter",
    "zero tensor": "f32[2, 3] cpu  min 0  max 0  mean 0",
    "negative": "f32[2] cpu  min -1  max -1  mean -1",
    "inference": "f32[2] cpu  min 1  max 1  mean 1",
    "script function": "<ScriptFunction double>",
    "script module": "RecursiveScriptModule(original_name=Linear)",
    "torchbind object": "<ScriptObject LinearPackedParamsBase>",
    "effect token": "f32[0] cpu  empty",
    "operator packet": "<function aten.add>",
    "grad_fn": "<MulBackward0>",
}


GIVEN: dict[str, object] = {}


def give(name: str) -> object:
    """What a node of a graph calls to have a value."""
    return GIVEN[name]


@pytest.fixture(scope="module")
def made() -> dict[str, object]:
    """Every value once: some are slow to make."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: make() for name, make in ODD_TENSORS.items()}


@pytest.mark.parametrize("name", LINES)
def test_an_odd_value_has_one_honest_line(made, name):
    assert summarize(made[name]) == LINES[name]


@pytest.mark.parametrize("name", ODD_TENSORS)
def test_an_odd_value_has_a_short_line_and_opens_without_raising(made, name):
    value = made[name]
    line = summarize(value)
    assert 0 < len(line) <= 200
    assert line.isprintable()
    found, counted = children(value), count_children(value)
    assert bool(counted.named) == bool(found.named)
    assert counted.indexed == found.indexed
    for part in [*found.named, *indexed_children(value, 0, 3)]:
        assert 0 < len(summarize(part.load())) <= 200


def test_a_jagged_tensor_says_how_many_parts_it_has(made):
    assert summarize(made["nested jagged"]).endswith("NestedTensor  jagged, 2 parts")
    assert "_offsets" in {child.name for child in children(made["nested jagged"]).named}


def test_a_fake_tensor_shows_its_symbols(made):
    value = made["fake with symbols"]
    rows, columns = value.shape
    assert summarize(value) == f"f32[{rows}, {columns}] cpu  FakeTensor"


def test_a_wrapper_shows_what_it_wraps(made):
    parts = {child.name: summarize(child.value) for child in children(made["two tensors"]).named}
    assert parts["a"] == "f32[2, 3] cpu  min 1  max 1  mean 1"
    assert parts["b"] == "f32[2, 3] cpu  min 0  max 0  mean 0"


def test_a_subclass_is_never_asked(made):
    value = torch.ones(2, 3).as_subclass(Asked)
    Asked.asked = 0
    summarize(value)
    for part in children(value).named:
        summarize(part.value)
    indexed_children(value, 0, 2)
    assert Asked.asked == 0


def test_every_odd_value_can_flow_through_a_graph_and_be_shown_at_every_stop(made):
    graph = fx.Graph()
    base = graph.placeholder("x")
    GIVEN.update(made)
    nodes = [graph.call_function(give, (name,)) for name in made]
    written = graph.call_method("add_", (base, 1))
    graph.output((written, *nodes))
    module = fx.GraphModule(torch.nn.Module(), graph)
    shown: list[str] = []

    def look(_, thread, stop):
        frame = thread.frames[-1]
        rows = [*node_items(frame), *env_items(frame, "")]
        shown.extend(summarize(row.value) for row in rows)

    driver = Driver(at_stop=look, entry=True)
    driver.forever = "over"
    with driver:
        result = module(torch.zeros(2))
    assert len(driver.stops) == len(list(graph.nodes))
    assert all(given is value for given, value in zip(result[1:], made.values(), strict=True))
    assert "f32[2, 3] cpu  HostileDispatch" in shown


def test_a_write_into_a_tensor_that_refuses_everything_is_no_error():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    graph.call_method("zero_", (y,))
    graph.output(x)
    module = fx.GraphModule(torch.nn.Module(), graph)
    notes: list[tuple[str, str]] = []

    def look(_, thread, stop):
        [inputs] = [i for i in env_items(thread.frames[-1], "") if i.name == "inputs"]
        assert inputs.branch is not None
        notes.extend((item.name, item.note) for item in inputs.branch.items())

    driver = Driver(at_stop=look)
    driver.break_on("op:output")
    with driver:
        module(HostileDispatch(), torch.ones(2))
    assert notes == [("x", ""), ("y", "changed by %zero_")]


GLOO = """
import os, torch, torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.device_mesh import init_device_mesh
from torch import nn, fx
from fxdap.view.summary import summarize
from tests.engine.driver import Driver
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
tensor = distribute_tensor(torch.arange(8.0).reshape(4, 2), mesh, [Shard(0)])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(distribute_tensor(torch.eye(2), mesh, [Replicate()]))
    def forward(self, x):
        return torch.relu(x @ self.weight)
module = fx.symbolic_trace(Net())
seen = []
driver = Driver(at_stop=lambda d, t, s: seen.extend(map(summarize, t.frames[-1].registers[:-1])))
driver.break_on("op:output")
with driver:
    result = module(tensor)
print(*seen, sep="\\n")
print(type(result).__name__, torch.equal(result.to_local(), tensor.to_local()))
dist.destroy_process_group()
"""


def test_dtensors_of_one_process_flow_through_a_graph():
    command = [sys.executable, "-W", "ignore", "-c", GLOO]
    run = subprocess.run(command, capture_output=True, text=True)
    # Gloo itself prints to stdout before torch 2.11.
    assert [line for line in run.stdout.splitlines() if not line.startswith("[Gloo]")] == [
        "f32[4, 2] cpu  DTensor  (Shard(dim=0),) on mesh (1,)",
        "f32[2, 2] cpu  DTensor  (Replicate(),) on mesh (1,)",
        "f32[4, 2] cpu  DTensor  (Shard(dim=0),) on mesh (1,)",
        "f32[4, 2] cpu  DTensor  (Shard(dim=0),) on mesh (1,)",
        "DTensor True",
    ], run.stderr
