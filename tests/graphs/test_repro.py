"""A node or slice as a script: it runs without fxdap and shows the same value or error."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxdap.graphs.repro import ReproError, record_frame, record_run, write_script
from fxdap.graphs.target import Target
from tests.engine.driver import Driver


def target(model: Any, *inputs: Any, exported: bool = False) -> Target:
    module = torch.export.export(model, inputs).module() if exported else fx.symbolic_trace(model)
    return Target(module, "Model", "test", (inputs, {}), "test")


def run_script(text: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script where neither fxdap nor the checkout can be imported."""
    script = tmp_path / "repro.py"
    banned = "import sys\nsys.modules['fxdap'] = None\n"
    script.write_text(banned + text)
    command = [sys.executable, "-I", str(script)]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)


def repeat(made: Target, at: str, *starts: str) -> tuple[Any, Any, str]:
    """What the script gives, what torch gave, and the script."""
    plain = fx.Interpreter(made.module, garbage_collect_values=False)
    torch.manual_seed(5)
    plain.run(*made.require_inputs()[0])
    expected = next(v for n, v in plain.env.items() if n.name == at)
    torch.manual_seed(5)
    text = write_script(record_run(made, at, starts))
    return value_of(text), expected, text


def value_of(text: str) -> Any:
    """What a script prints, run in this process."""
    shown: list[Any] = []
    space: dict[str, Any] = {"print": shown.append, "__name__": "repro"}
    state = torch.get_rng_state()
    exec(compile(text, "<repro>", "exec"), space)
    torch.set_rng_state(state)
    return shown[0]


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale: torch.Tensor
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.rand(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.norm(self.linear(x))) * self.scale
        first, second = hidden.t().split([1, 2])
        noisy = nn.functional.dropout(second, 0.5) + torch.rand(2, 1)
        return torch.cat([first, noisy[0:1]], dim=0).sum(dim=-1, dtype=torch.float64)


NODES = ["linear", "norm", "relu", "mul", "t", "split", "dropout", "add", "cat", "sum_1"]


@pytest.mark.parametrize("node", NODES)
def test_each_node_gives_the_same_value(node):
    found, expected, _ = repeat(target(Mixed(), torch.rand(4, 3)), node)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


@pytest.mark.parametrize("exported", [False, True])
def test_a_slice_gives_the_same_value(exported):
    made = target(Mixed().eval() if exported else Mixed(), torch.rand(4, 3), exported=exported)
    found, expected, text = repeat(made, "cat", "relu")
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert "linear(" not in text.split('"""')[2]


def test_the_script_is_plain_python(tmp_path):
    made = target(lambda x: torch.relu(x) + 1, torch.tensor([-1.0, 2.0]))
    text = write_script(record_run(made, "add", ["relu"]))
    assert text == (
        '"""%add and 1 node that lead to it, of Model, with recorded inputs.\n\n'
        "    %add = operator.add(%relu, 1)\n\n"
        "fxdap saw: f32[2] cpu  min 1  max 3  mean 2\n"
        '"""\n\n\n'
        "import operator\n"
        "import torch\n\n\n"
        "x = torch.tensor([-1.0, 2.0], dtype=torch.float32)\n\n"
        "relu = torch.relu(x)\n"
        "add = operator.add(relu, 1)\n"
        "print(add)\n"
    )
    done = run_script(text, tmp_path)
    assert (done.returncode, done.stdout) == (0, "tensor([1., 3.])\n")


def test_an_error_is_the_same(tmp_path):
    made = target(lambda x: torch.mm(torch.relu(x), x), torch.ones(2, 3))
    text = write_script(record_run(made, "mm", []))
    assert "fxdap saw: RuntimeError: mat1 and mat2 shapes" in text
    done = run_script(text, tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)" in done.stderr


def nested_cond(x: torch.Tensor) -> Any:
    def inner(y: torch.Tensor) -> Any:
        return torch.cond(y.sum() > 1, lambda z: z.sin(), lambda z: z.cos() * 2, (y,))

    return torch.cond(x.sum() > 0, lambda y: y - 1, inner, (x,))


class Cond(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return nested_cond(x)


def test_bodies_of_higher_order_ops_are_included(tmp_path):
    x = torch.tensor([-1.0, 0.25])
    made = target(Cond(), x, exported=True)
    text = write_script(record_run(made, "getitem", ["cond"]))
    done = run_script(text, tmp_path)
    assert done.stderr == ""
    assert done.stdout == f"{Cond()(x)}\n"
    assert text.count("torch.fx.GraphModule(") == 4


class Loop(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return torch._higher_order_ops.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x)
        )


class Checkpointed(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        with torch.no_grad():
            y = x.sin() + 1
        return y * 2


@pytest.mark.parametrize("model", [Loop, Checkpointed], ids=lambda m: m.__name__)
def test_other_higher_order_ops_are_included(model, tmp_path):
    x = torch.ones(2)
    made = target(model(), x, exported=True)
    hop = next(n for n in made.module.graph.nodes if n.op == "call_function" and n.all_input_nodes)
    found, expected, _ = repeat(made, hop.name)
    torch.testing.assert_close(found, expected)


def test_inputs_are_those_of_the_moment_when_they_were_read():
    def write(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        z = y * 2
        y.add_(100)
        return z + y

    made = target(write, torch.zeros(2))
    text = write_script(record_run(made, "mul", []))
    assert torch.equal(value_of(text), torch.full((2,), 2.0))
    found, _, text = repeat(made, "add_1", "add")
    assert torch.equal(found, torch.full((2,), 103.0))
    assert "add_ = add.add_(100)" in text


ODD = {
    "strided": torch.arange(12.0).reshape(3, 4).t()[1:],
    "expanded": torch.ones(3, 1).expand(3, 5),
    "large": torch.rand(100, 3),
    "half": torch.rand(2).half(),
    "bfloat": torch.rand(200).bfloat16(),
    "complex": torch.tensor([1 + 2j, float("nan")]),
    "infinite": torch.tensor([float("inf"), float("nan"), -0.0]),
    "empty": torch.empty(0, 3),
    "scalar": torch.tensor(3),
    "bools": torch.tensor([True, False]),
    "sparse": torch.eye(3).to_sparse(),
    "parameter": nn.Parameter(torch.rand(2)),
    "leaf": torch.rand(2, requires_grad=True),
    "computed": torch.rand(2, requires_grad=True) * 2,
}


@pytest.mark.parametrize("kind", ODD)
def test_tensors_are_the_same_to_the_bit(kind):
    value = ODD[kind]
    graph = fx.Graph()
    graph.output((graph.placeholder("x"),))
    made = Target(fx.GraphModule(nn.Module(), graph), "Model", "test", ((value,), {}), "test")
    (found,) = value_of(write_script(record_run(made, "output", [])))
    assert (found.dtype, found.shape, found.layout) == (value.dtype, value.shape, value.layout)
    assert (found.requires_grad, found.is_leaf) == (value.requires_grad, value.is_leaf)
    assert type(found) is type(value)
    if value.layout is torch.strided:
        assert found.stride() == value.stride()
    torch.testing.assert_close(found, value, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("at", "starts", "problem"),
    [
        ("rely", [], "the graph has no node 'rely'; did you mean 'relu'?"),
        ("relu", ["neg"], "%relu does not depend on %neg"),
        ("x", [], "%x is an input: there is nothing to repeat"),
    ],
)
def test_a_wrong_node_is_told(at, starts, problem):
    made = target(lambda x: torch.neg(torch.relu(x)), torch.ones(1))
    with pytest.raises(ReproError) as told:
        record_run(made, at, starts)
    assert str(told.value) == problem


def test_a_node_that_raises_before_is_told():
    made = target(lambda x: torch.relu(torch.mm(x, x)), torch.ones(2, 3))
    with pytest.raises(ReproError, match="%mm raises before %relu is reached: RuntimeError: mat1"):
        record_run(made, "relu", [])


def test_a_function_that_cannot_be_imported_is_told():
    graph = fx.Graph()
    graph.output(graph.call_function(lambda x: x, (graph.placeholder("x"),)))
    made = Target(fx.GraphModule(nn.Module(), graph), "Model", "test", ((1,), {}), "test")
    with pytest.raises(ReproError, match="which no script can import"):
        write_script(record_run(made, "_lambda_", []))


def test_a_stopped_node_is_written_from_its_frame():
    texts: list[str] = []

    def write(driver: Driver, thread: Any, stop: Any) -> None:
        texts.append(write_script(record_frame(thread.top, None, [])))

    module = fx.symbolic_trace(lambda x: torch.mm(torch.relu(x), x.t() + 1))
    driver = Driver(at_stop=write)
    driver.break_on("mm")
    with driver:
        expected = module(torch.ones(1, 2))
    assert torch.equal(value_of(texts[0]), expected)
    assert "fxdap saw: not run yet" in texts[0]
