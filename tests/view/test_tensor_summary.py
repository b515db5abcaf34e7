"""Lines of tensors."""

import math
import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
)
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from fxdap.view.budget import Budget
from fxdap.view.summary import summarize

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("tensor", "line"),
    [
        (
            torch.tensor([[-3.5, 1.2, 0.25], [NAN, NAN, 1]]),
            "f32[2, 3] cpu  min -3.5  max 1.2  mean -0.2625  nan 2",
        ),
        (torch.arange(6).view(2, 3), "i64[2, 3] cpu  min 0  max 5  mean 2.5"),
        (torch.tensor([INF, -INF, -INF, 2]), "f32[4] cpu  min 2  max 2  mean 2  inf 1  -inf 2"),
        (torch.full((3,), -INF), "f32[3] cpu  -inf 3"),
        (torch.full((4,), 3e38), "f32[4] cpu  min 3e+38  max 3e+38  mean 3e+38"),
        (torch.tensor([True, False, True]), "b8[3] cpu  true 2  false 1"),
        (torch.tensor([3 + 4j, 0]), "c64[2] cpu  abs  min 0  max 5  mean 2.5"),
        (torch.tensor([1, 2.5]).half(), "f16[2] cpu  min 1  max 2.5  mean 1.75"),
        (torch.tensor([1, 2]).bfloat16(), "bf16[2] cpu  min 1  max 2  mean 1.5"),
        (
            torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn),
            "f8e4m3fn[2] cpu  min 1  max 2  mean 1.5",
        ),
        (torch.tensor([1, 2], dtype=torch.uint16), "u16[2] cpu  min 1  max 2  mean 1.5"),
        (
            torch.tensor([1, 2**63], dtype=torch.uint64),
            "u64[2] cpu  min 1  max 9.223e+18  mean 4.612e+18",
        ),
        (torch.tensor(0.1), "f32[] cpu  0.1"),
        (torch.tensor(1 / 3, dtype=torch.float64), "f64[] cpu  0.3333333333333333"),
        (torch.tensor(0.1).bfloat16(), "bf16[] cpu  0.1"),
        (torch.tensor(NAN), "f32[] cpu  nan"),
        (torch.tensor(2**60), "i64[] cpu  1152921504606846976"),
        (torch.tensor(True), "b8[] cpu  True"),
        (torch.tensor(1 + 2j), "c64[] cpu  (1+2j)"),
        (torch.empty(0, 3), "f32[0, 3] cpu  empty"),
        (torch.empty(2, 3, device="meta"), "f32[2, 3] meta"),
        (nn.Parameter(torch.ones(2)), "f32[2] cpu  Parameter  min 1  max 1  mean 1"),
        (nn.parameter.UninitializedParameter(), "f32[?] cpu  UninitializedParameter"),
        (torch.ones(2, 2).to_mkldnn(), "f32[2, 2] cpu  mkldnn"),
        (torch._efficientzerotensor((2,)), "f32[2] cpu  min 0  max 0  mean 0"),
        (torch.tensor([1 + 1j]).conj().imag, "f32[1] cpu  min -1  max -1  mean -1"),
        (torch.arange(9.0).view(3, 3).t()[::2, 1:], "f32[2, 2] cpu  min 3  max 8  mean 5.5"),
        (torch.ones(1).expand(1000, 1000), "f32[1000, 1000] cpu"),
    ],
)
def test_a_tensor_is_shown_shape_first(tensor, line):
    assert summarize(tensor) == line


def test_sparse_and_quantized_tensors():
    dense = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    assert summarize(dense.to_sparse()) == ("f32[2, 2] cpu  sparse_coo nnz 1  min 2  max 2  mean 2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        csr = dense.to_sparse_csr()
        quantized = torch.quantize_per_tensor(dense, 0.5, 3, torch.quint8)
    assert summarize(csr) == "f32[2, 2] cpu  sparse_csr nnz 1  min 2  max 2  mean 2"
    assert summarize(quantized) == "quint8[2, 2] cpu  quantized scale 0.5 zero_point 3"


def test_nested_tensors():
    parts = [torch.ones(2, 3), torch.ones(4, 3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strided = torch.nested.nested_tensor(parts)
    assert summarize(strided) == "f32[2, *, 3] cpu  nested, 2 parts"
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged)
    assert summarize(jagged) == f"f32[2, {jagged.shape[1]}, 3] cpu  NestedTensor  jagged, 2 parts"


def test_fake_tensors_and_symbols_gain_no_guards():
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    dimensions = [DimDynamic.DYNAMIC, DimDynamic.STATIC]
    context: Any = StatelessSymbolicContext(dynamic_sizes=dimensions)
    fake = mode.from_tensor(torch.ones(5, 3), symbolic_context=context)
    size = fake.shape[0]
    symbol, guards = str(size), len(env.guards)
    assert summarize(fake) == f"f32[{symbol}, 3] cpu  FakeTensor"
    assert summarize(size) == f"{symbol} = 5"
    assert summarize(2 * size) == f"2*{symbol} = 10"
    assert summarize(size > 7) == f"{symbol} > 7 = False"
    assert summarize(fake.shape) == f"torch.Size([{symbol}, 3])"
    assert summarize(env.create_unbacked_symint()) == "u0"
    assert len(env.guards) == guards


def test_a_tensor_whose_storage_was_freed_is_not_read():
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    assert summarize(tensor) == "f32[3] cpu  storage freed"


class Hostile(torch.Tensor):
    """Raises whatever torch function is called on it."""

    def __repr__(self):  # type: ignore[override]
        raise RuntimeError("no repr")

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise ValueError("no functions")


class Wrapper(torch.Tensor):
    """Raises in every dispatch."""

    @staticmethod
    def __new__(cls: Any, inner: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner) -> None:
        self.wrapped = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]
        raise ValueError("no dispatch")


def test_code_of_a_subclass_is_not_called():
    hostile = torch.ones(2).as_subclass(Hostile)
    assert summarize(hostile) == "f32[2] cpu  Hostile  min 1  max 1  mean 1"
    assert summarize([hostile]) == "[f32[2]]"
    assert summarize(Wrapper(torch.ones(2))) == "f32[2] cpu  Wrapper"


# jvp loads its decompositions through torch.jit, which torch itself has deprecated.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensors_inside_functorch_transforms_say_which():
    lines = []

    def look(x):
        lines.extend([summarize(x), summarize(plain)])
        return x.sum()

    plain, x = torch.tensor([1.0, 3.0]), torch.arange(6.0).view(2, 3)
    torch.vmap(look)(x)
    torch.func.grad(look)(x)
    torch.func.jvp(look, (x,), (x,))
    values = "min 0  max 5  mean 2.5"
    plain_line = "f32[2] cpu  min 1  max 3  mean 2"
    assert lines == [
        f"f32[3] cpu  vmap level 1, batched in dim 0 of f32[2, 3]  {values}",
        plain_line,
        f"f32[2, 3] cpu  grad level 1  {values}",
        plain_line,
        f"f32[2, 3] cpu  grad level 1  {values}",
        plain_line,
    ]


def test_functional_tensors_are_left_alone():
    functional = torch._to_functional_tensor(torch.ones(2))
    assert summarize(functional) == "f32[2] cpu  functional"


class Recording(TorchDispatchMode):
    def __init__(self, seen) -> None:
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


class RecordingFunctions(TorchFunctionMode):
    def __init__(self, seen) -> None:
        super().__init__()
        self.seen = seen

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def test_modes_of_the_user_see_nothing():
    seen: list[object] = []
    tensor, module = torch.tensor([1.0, NAN]), nn.Linear(2, 2)
    with Recording(seen), RecordingFunctions(seen):
        line = summarize(tensor)
        summarize([tensor, module, module.weight])
    assert line == "f32[2] cpu  min 1  max 1  mean 1  nan 1"
    assert seen == []


@pytest.mark.parametrize(
    "context",
    [
        torch.no_grad,
        torch.enable_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu", dtype=torch.bfloat16),
        lambda: torch.device("meta"),
        FakeTensorMode,
    ],
)
def test_the_line_is_the_same_under_every_mode_and_leaves_it_on(context):
    tensor = torch.tensor([1.0, 2.5], requires_grad=True)
    product = tensor * 2
    with context():
        grad = torch.is_grad_enabled()
        assert summarize(tensor) == "f32[2] cpu  min 1  max 2.5  mean 1.75"
        assert summarize(product) == "f32[2] cpu  min 2  max 5  mean 3.5"
        assert torch.is_grad_enabled() == grad
    with torch.inference_mode():
        inference = torch.ones(2)
    assert summarize(inference) == "f32[2] cpu  min 1  max 1  mean 1"


def test_looking_changes_neither_versions_nor_random_numbers_nor_the_graph():
    tensor = torch.ones(3, requires_grad=True)
    product = tensor * 2
    version, grad_fn, rng = product._version, product.grad_fn, torch.get_rng_state()
    summarize(product)
    assert product._version == version
    assert product.grad_fn is grad_fn
    assert torch.equal(torch.get_rng_state(), rng)


def test_statistics_stop_at_the_budget():
    big = torch.ones(65_537)
    assert summarize(big) == "f32[65537] cpu"
    assert summarize(big[1:]) == "f32[65536] cpu  min 1  max 1  mean 1"
    assert summarize(big, Budget(elements=100_000)) == "f32[65537] cpu  min 1  max 1  mean 1"
    assert summarize(torch.ones(2), Budget(seconds=0)) == "f32[2] cpu"
    assert summarize(torch.ones(2), Budget(length=10)) == "f32[2] ..."


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_a_cuda_tensor_is_shown_without_waiting_for_the_device():
    tensor = torch.ones(2, 3, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        assert summarize(tensor) == "f32[2, 3] cuda:0"
        assert summarize([tensor, torch.tensor(1.0, device="cuda")]) == (
            "[f32[2, 3] cuda:0, f32[] cuda:0]"
        )
    finally:
        torch.cuda.set_sync_debug_mode("default")


DTENSOR = """
import torch, torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.device_mesh import init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore
from fxdap.view.children import children
from fxdap.view.summary import summarize
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
tensor = DTensor.from_local(torch.ones(2, 2), init_device_mesh("cpu", (2,)), [Shard(0)])
print(summarize(tensor))
print({c.name: summarize(c.value) for c in children(tensor).named}["_local_tensor"])
"""


def test_a_dtensor_says_how_it_is_spread_and_is_not_gathered():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DTENSOR], capture_output=True, text=True
    )
    assert run.stdout.splitlines() == [
        "f32[4, 2] cpu  DTensor  (Shard(dim=0),) on mesh (2,)",
        "f32[2, 2] cpu  min 1  max 1  mean 1",
    ], run.stderr
