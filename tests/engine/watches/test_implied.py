"""What the watches for NaN and Inf need not read, because other values tell."""

import itertools
import random
from collections.abc import Callable

import pytest
import torch
from torch import fx, nn
from torch.nn import functional

from fxdap.engine.program import Program
from fxdap.engine.watches import implied
from fxdap.engine.watches.facts import Fact, fact
from tests.engine.driver import Driver
from tests.engine.watches.test_finite import INF, NAN, watch

Unary = Callable[[torch.Tensor], torch.Tensor]

CLOSED: dict[str, Unary] = {
    "abs": torch.abs,
    "alias": torch.ops.aten.alias.default,
    "cat": lambda x: torch.cat([x, x]),
    "chunk": lambda x: torch.chunk(x, 2)[1],
    "clone": torch.clone,
    "contiguous": lambda x: x.t().contiguous(),
    "cos": torch.cos,
    "detach": torch.detach,
    "expand": lambda x: x[:1].expand(3, 4),
    "flatten": torch.flatten,
    "flip": lambda x: torch.flip(x, [0]),
    "getitem": lambda x: x[1:, ..., torch.tensor([0, 2])],
    "identity": nn.Identity(),
    "max_pool1d": lambda x: functional.max_pool1d(x, 2),
    "max_pool2d": lambda x: functional.max_pool2d(x[None], 2, padding=1),
    "max_pool3d": lambda x: functional.max_pool3d(x[None, None], 2, padding=1),
    "maximum": lambda x: torch.maximum(x, -x),
    "minimum": lambda x: torch.minimum(x, -x),
    "narrow": lambda x: torch.narrow(x, 0, 1, 2),
    "neg": torch.neg,
    "permute": lambda x: x.permute(1, 0),
    "relu": torch.relu,
    "relu6": functional.relu6,
    "reshape": lambda x: x.reshape(-1),
    "roll": lambda x: torch.roll(x, 1),
    "select": lambda x: torch.select(x, 0, 1),
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "slice": lambda x: torch.ops.aten.slice(x, 0, 1, 3),
    "softmax": lambda x: torch.softmax(x, -1),
    "split": lambda x: torch.split(x, 3)[1],
    "split_with_sizes": lambda x: torch.split_with_sizes(x, [1, 3])[1],
    "squeeze": torch.squeeze,
    "stack": lambda x: torch.stack([x, x]),
    "t": torch.t,
    "tanh": torch.tanh,
    "transpose": lambda x: x.transpose(0, 1),
    "tril": torch.tril,
    "triu": torch.triu,
    "unbind": lambda x: torch.unbind(x)[2],
    "unsqueeze": lambda x: x.unsqueeze(0),
    "view": lambda x: x.view(-1),
}

PASSING: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "matmul": torch.matmul,
    "mm": torch.mm,
    "bmm": lambda x, y: torch.bmm(x[None], y[None]),
    "neg": lambda x, y: torch.neg(x),
    "div": torch.div,
    "truediv": lambda x, y: x / y,
    "linear": functional.linear,
    "gelu": lambda x, y: functional.gelu(x),
    "silu": lambda x, y: functional.silu(x),
    "layer_norm": lambda x, y: functional.layer_norm(x, (8,), y[0], y[1]),
    "batch_norm": lambda x, y: functional.batch_norm(x, y[0], y[1].abs(), y[2], y[3]),
}


DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """The finite values that are most likely to overflow, of shape [4, 4]."""
    limits = torch.finfo(dtype)
    values = [limits.max, limits.min, limits.tiny, -limits.tiny, 0.0, -0.0, 1.0, -88.8]
    return torch.tensor([*values, *reversed(values)], dtype=dtype).reshape(4, 4)


def test_every_closed_and_passing_operation_is_tried_here():
    assert set(CLOSED) == implied._CLOSED
    assert set(PASSING) == set(implied._PASSING)
    assert set(implied._MODULES.values()) <= set(CLOSED) | set(PASSING)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(CLOSED))
def test_a_closed_operation_gives_finite_values_for_finite_ones(name, dtype):
    assert CLOSED[name](extremes(dtype)).isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(PASSING))
def test_a_passing_operation_shows_what_is_not_finite_in_its_arguments(name, dtype):
    generator = torch.Generator().manual_seed(0)
    for position in range(implied._PASSING[name]):
        for bad, place in itertools.product((NAN, INF, -INF), range(64)):
            given = [torch.randn(8, 8, generator=generator).to(dtype) for _ in range(2)]
            given[1 - position][1] = 0.0
            given[position].view(-1)[place] = bad
            assert not PASSING[name](*given).isfinite().all()


def test_only_what_nothing_else_tells_is_read():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    added = graph.call_function(torch.add, (x, y))
    graph.call_function(torch.exp, (graph.call_function(torch.relu, (added,)),))
    module = fx.GraphModule(nn.Module(), graph)
    program = Program(module, graph, "Small")
    values = [torch.ones(2), torch.ones(2), torch.ones(2), torch.ones(2), torch.ones(2)]

    def facts(index: int) -> Fact:
        return fact(values[index])

    found = implied.implied(program, facts, range(5), lambda index: False)
    assert {program.nodes[i].name for i in found.nodes} == {"x", "y", "relu"}
    later = implied.implied(program, facts, range(3, 5), lambda index: index == 2)
    assert {program.nodes[i].name for i in later.nodes} == {"relu"}
    assert later.trusted == {2}
    assert implied.implied(program, facts, range(3, 5), lambda index: False).nodes == set()
    hidden = implied.implied(program, facts, range(5), lambda index: False, overwritten={0})
    assert {program.nodes[i].name for i in hidden.nodes} == {"y", "relu"}


OPERATIONS: tuple[tuple[Callable[..., object], int], ...] = (
    (torch.relu, 1),
    (functional.gelu, 1),
    (torch.neg, 1),
    (torch.t, 1),
    (torch.exp, 1),
    (torch.add, 2),
    (torch.mul, 2),
    (torch.matmul, 2),
    (torch.maximum, 2),
    (functional.linear, 2),
)


def random_module(seed: int) -> fx.GraphModule:
    """A hundred nodes, each of values before it; every second is kept small."""
    chance, graph = random.Random(seed), fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    for _ in range(50):
        function, count = chance.choice(OPERATIONS)
        given = tuple(chance.choice(values[-6:]) for _ in range(count))
        value = graph.call_function(function, given)
        values += [value, graph.call_function(torch.tanh, (value,))]
    graph.output(values[-1])
    return fx.GraphModule(nn.Module(), graph, "Random")


def findings(driver: Driver, module: fx.GraphModule, *inputs: torch.Tensor) -> list[str]:
    """Where and why one run stops."""
    before = len(driver.stops)
    module(*inputs)
    texts = [stop.text.splitlines()[0] for stop in driver.stops[before:]]
    return [" ".join(pair) for pair in zip(driver.places[before:], texts, strict=True)]


@pytest.mark.parametrize("seed", range(6))
def test_it_finds_what_looking_at_every_value_finds(seed):
    module = random_module(seed)
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.rand(4, 4, generator=generator) for _ in range(2))
    with Driver(keep_values=False) as learned:
        watch(learned, "nan", "inf")
        for _ in range(5):
            assert findings(learned, module, x, y) == []
        for bad in (NAN, -INF, -3e38):
            y[1, seed % 4] = bad
            with Driver(keep_values=False) as fresh:
                watch(fresh, "nan", "inf")
                expected = findings(fresh, module, x, y)
            assert findings(learned, module, x, y) == expected
            assert expected or bad == -3e38
