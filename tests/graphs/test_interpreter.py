"""fxdap.Interpreter: hooks, both meanings of map_nodes_to_values, and otherwise torch's."""

import ast
import doctest
import io
import re
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

import fxdap
import fxdap.graphs.interpreter
from fxdap.engine.selectors import SelectorError
from fxdap.graphs.conventions import stores_values
from sample_models import hooks
from tests.engine.driver import Driver, assert_same
from tests.engine.graphs import chain
from tests.graphs.test_interpreters import printed

X = torch.zeros(2)
REFERENCE = "shared/reference"


def names_seen(interpreter: fxdap.Interpreter, where: str | None = None) -> list[str]:
    seen: list[str] = []
    interpreter.register_node_post_hook(lambda node, value: seen.append(node.name), where=where)
    return seen


@pytest.mark.parametrize("collect", [True, False])
def test_without_hooks_it_is_torchs_interpreter(collect):
    module = chain(3)
    plain = fx.Interpreter(module, collect)
    ours = fxdap.Interpreter(module, collect)
    assert_same(ours.run(X), plain.run(X))
    assert [n.name for n in ours.env] == [n.name for n in plain.env]
    assert_same(list(ours.env.values()), list(plain.env.values()))


def test_pre_hooks_see_the_arguments_values():
    interpreter, seen = fxdap.Interpreter(chain(2)), []
    interpreter.register_node_pre_hook(lambda n, args, kwargs: seen.append((n.name, args, kwargs)))
    interpreter.run(X)
    assert_same(
        seen,
        [
            ("x", (), {}),
            ("n0", (X, 1), {}),
            ("n1", (X + 1, 1), {}),
            ("output", (X + 2,), {}),
        ],
    )


def test_post_hooks_replace_values_in_order_until_removed():
    interpreter, seen = fxdap.Interpreter(chain(2)), []
    times = interpreter.register_node_post_hook(lambda n, value: value * 10, where="n0")
    interpreter.register_node_post_hook(lambda n, value: seen.append(float(value[0])), where="n0")
    assert torch.equal(interpreter.run(X), X + 11)
    times.remove()
    assert torch.equal(interpreter.run(X), X + 2)
    assert seen == [10.0, 1.0]


def test_a_hook_on_the_output_replaces_the_result():
    interpreter = fxdap.Interpreter(chain(1))
    interpreter.register_node_post_hook(lambda n, value: "mine", where="op:output")
    assert interpreter.run(X) == "mine"


def test_a_hook_may_remove_itself():
    interpreter, seen = fxdap.Interpreter(chain(2)), []

    def once(node: fx.Node, value: Any) -> None:
        seen.append(node.name)
        handle.remove()

    handle = interpreter.register_node_post_hook(once)
    interpreter.run(X)
    assert seen == ["x"]


def test_handles_remove_hooks_at_the_end_of_a_with_block():
    interpreter, seen = fxdap.Interpreter(chain(1)), []
    with interpreter.register_node_post_hook(lambda n, value: seen.append(n.name)):
        interpreter.run(X)
    interpreter.run(X)
    assert seen == ["x", "n0", "output"]


def test_a_selector_is_matched_again_when_the_graph_changed():
    module = chain(2)
    interpreter = fxdap.Interpreter(module, garbage_collect_values=False)
    seen = names_seen(interpreter, "target:torch.add")
    interpreter.run(X)
    first, second = (n for n in module.graph.nodes if n.op == "call_function")
    first.target = torch.sub
    with module.graph.inserting_after(second):
        second.replace_all_uses_with(added := module.graph.call_function(torch.add, (X, 3)))
    interpreter.run(X)
    assert seen == ["n0", "n1", "n1", added.name]


def test_a_wrong_selector_is_refused_when_the_hook_is_registered():
    interpreter = fxdap.Interpreter(chain(1))
    with pytest.raises(SelectorError, match="unknown opcode 'relu'"):
        interpreter.register_node_pre_hook(print, where="op:relu")
    with pytest.raises(SelectorError, match="drop 'after:'"):
        interpreter.register_node_post_hook(print, where="after:n0")


def test_an_error_in_a_hook_is_an_error_of_its_node():
    interpreter = fxdap.Interpreter(chain(1))

    def fail(node: fx.Node, value: Any) -> None:
        raise ValueError("mine")

    interpreter.register_node_post_hook(fail, where="n0")
    with pytest.raises(ValueError, match=r"mine\s+While executing %n0"):
        interpreter.run(X)


@pytest.mark.parametrize("hooked", [True, False])
def test_partial_boxed_and_flat_runs_are_torchs(hooked):
    module = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)).module()
    interpreter = fxdap.Interpreter(module)
    if hooked:
        names_seen(interpreter)
    expected = module(torch.ones(1, 2))
    assert torch.equal(interpreter.run(torch.ones(1, 2)), expected)
    flat = interpreter.run(torch.ones(1, 2), enable_io_processing=False)
    assert_same(flat, fx.Interpreter(module).run(torch.ones(1, 2), enable_io_processing=False))
    boxed = [X]
    counting = fxdap.Interpreter(chain(2))
    assert torch.equal(counting.boxed_run(boxed), X + 2)
    assert boxed == []
    env: dict[fx.Node, Any] = {n: X + 5 for n in counting.graph.nodes if n.name in ("x", "n0")}
    assert torch.equal(counting.run(initial_env=env), X + 6)


class Store(fxdap.Interpreter):
    """Overrides the method as the store that some documents describe."""

    def __init__(self, module: fx.GraphModule, collect: bool = True) -> None:
        super().__init__(module, collect)
        self.kept: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        self.map_nodes_to_values(n, result)
        return result

    def map_nodes_to_values(self, node: fx.Node, value: Any) -> None:  # type: ignore[override]
        self.kept[node] = value


class Forwarding(Store):
    def map_nodes_to_values(self, node: fx.Node, value: Any) -> None:  # type: ignore[override]
        super().map_nodes_to_values(node, value)
        fxdap.Interpreter.map_nodes_to_values(self, node, value)


@pytest.mark.parametrize("cls", [Store, Forwarding])
@pytest.mark.parametrize("collect", [True, False])
@pytest.mark.parametrize("debugged", [True, False])
def test_an_override_as_a_store_is_called_for_results_only(cls, collect, debugged):
    interpreter = cls(chain(2), collect)
    driver = Driver(entry=True)
    driver.forever = "over"
    if debugged:
        with driver:
            result = interpreter.run(X)
        assert driver.places == ["%x", "%n0", "%n1", "%output"]
    else:
        result = interpreter.run(X)
    assert torch.equal(result, X + 2)
    assert_same({n.name: v for n, v in interpreter.kept.items()}, _values(2))


def _values(length: int) -> dict[str, Any]:
    return {"x": X, **{f"n{i}": X + i + 1 for i in range(length)}, "output": X + length}


def test_an_override_as_torch_means_it_is_called_and_its_result_used():
    class Doubled(fxdap.Interpreter):
        def map_nodes_to_values(self, args: Any, n: fx.Node) -> Any:
            values = super().map_nodes_to_values(args, n)
            return tuple(v * 2 for v in values) if n.name == "n1" and values else values

    assert torch.equal(Doubled(chain(2)).run(X), (X + 1) * 2 + 2)


def test_a_lookup_that_a_later_base_overrides_is_called():
    class Noting(fx.Interpreter):
        looked_up: list[str]

        def map_nodes_to_values(self, args: Any, n: fx.Node) -> Any:
            self.looked_up.append(n.name)
            return super().map_nodes_to_values(args, n)

    class Both(fxdap.Interpreter, Noting):
        pass

    interpreter = Both(chain(1))
    interpreter.looked_up = []
    interpreter.run(X)
    assert interpreter.looked_up == ["x", "x", "n0", "n0", "output", "output"]


def test_stored_values_outlive_those_of_env():
    class Recorder(fxdap.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            return self.map_nodes_to_values(n, super().run_node(n))

    recorder = Recorder(chain(2))
    recorder.run(X)
    assert [n.name for n in recorder.env] == ["output"]
    assert_same({n.name: v for n, v in recorder.node_values.items()}, _values(2))
    recorder.run(X + 1)
    assert len(recorder.node_values) == 4


def test_a_run_of_ones_own_can_leave_storing_to_map_nodes_to_values():
    class OwnLoop(fxdap.Interpreter):
        def run(self, x: Any) -> Any:  # type: ignore[override]
            self.args_iter = iter((x,))
            for node in self.graph.nodes:
                self.map_nodes_to_values(node, self.run_node(node))
            return self.node_values[node]

    assert torch.equal(OwnLoop(chain(3)).run(X), X + 3)


def test_node_values_without_stores_is_env():
    interpreter = fxdap.Interpreter(chain(1), garbage_collect_values=False)
    interpreter.run(X)
    assert dict(interpreter.node_values) == interpreter.env
    mine: Any = {"mine": 1}
    interpreter.node_values = mine
    assert interpreter.node_values is mine


def test_a_name_instead_of_a_node_is_refused():
    with pytest.raises(TypeError, match="pass the Node itself"):
        fxdap.Interpreter(chain(1)).map_nodes_to_values("n0", X)


def test_a_value_that_is_missing_gives_torchs_error():
    interpreter = fxdap.Interpreter(chain(1))
    last = next(n for n in interpreter.graph.nodes if n.op == "output")
    with pytest.raises(RuntimeError, match="Node output referenced nonexistent value n0!"):
        interpreter.run_node(last)


def _first(self, node: fx.Node, value): ...
def _second(self, node: "torch.fx.Node", value: Any): ...
def _third(self, n, value): ...
def _fourth(self, args, n): ...
def _fifth(self, args: Any, n: fx.Node): ...
def _sixth(self, *args): ...
def _seventh(self, a, b): ...
def _eighth(self, node: fx.Node, n: fx.Node): ...
def _ninth(self, node: Any, value: Any): ...


@pytest.mark.parametrize(
    ("override", "store"),
    [
        (_first, True),
        (_second, True),
        (_third, True),
        (_fourth, False),
        (_fifth, False),
        (_sixth, False),
        (_seventh, False),
        (_eighth, False),
        (_ninth, True),
    ],
)
def test_what_an_override_means_is_read_from_its_parameters(override, store):
    assert stores_values(override) is store


def test_the_sample_runs():
    _, text = printed(hooks.main)
    assert text.splitlines() == [
        "before inner: (2, 4)",
        "before outer: (2, 8)",
        "largest of x: 1.000",
        "largest of inner: 0.934",
        "largest of relu: 0.000",
        "largest of outer: 0.066",
        "silenced gives the bias: True",
        "as before without hooks: True",
    ]


@pytest.mark.parametrize("name", ["Interpreter", "Interpreter.map_nodes_to_values"])
def test_the_docstrings_examples_run(name):
    finder = doctest.DocTestFinder()
    module = fxdap.graphs.interpreter
    globs = {"torch": torch, "fxdap": fxdap, "Interpreter": fxdap.Interpreter}
    tests = finder.find(fxdap.Interpreter, module=module, extraglobs=globs)
    found = [t for t in tests if t.examples and t.name.startswith(name)]
    assert found
    assert [doctest.DocTestRunner().run(t).failed for t in found] == [0] * len(found)


def test_the_documents_examples_run(repo_root):
    text = (repo_root / "docs/interpreters.md").read_text()
    example = doctest.DocTestParser().get_doctest(text, {}, "interpreters.md", None, 0)
    assert len(example.examples) > 10
    assert doctest.DocTestRunner().run(example).failed == 0


def code_blocks(text: str) -> list[str]:
    """The stretches of a text that are Python and begin with an import or a class."""
    lines, blocks, at = text.splitlines(), [], 0
    while at < len(lines):
        block = _longest(lines[at:]) if re.match(r"(import|class) ", lines[at]) else []
        if block:
            blocks.append("\n".join(block))
        at += max(len(block), 1)
    return blocks


def _longest(lines: list[str]) -> list[str]:
    for end in range(min(len(lines), 80), 0, -1):
        try:
            tree = ast.parse("\n".join(lines[:end]))
        except SyntaxError:
            continue
        # A heading of one word reads as a name.
        last = tree.body[-1]
        if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Name)):
            return lines[:end]
    return []


def _affine(x: torch.Tensor) -> list[Any]:
    return [x, x + 1, (x + 1) * 2, (x + 1) * 2]


EXPECTED: dict[str, dict[str, Callable[[torch.Tensor], list[Any]]]] = {
    "MyInterpreter": {"node_values": lambda x: [x, x.relu(), x.relu() + 1, x.relu() + 1]},
    "ValueTrackerInterpreter": {"node_values": _affine},
    "ProcessingInterpreter": {
        "processed_values": lambda x: [f"Processed: {v}" for v in _affine(x)],
    },
    "ConditionalValueTrackingInterpreter": {
        "relu_outputs": lambda x: [x.relu().abs()],
        "other_outputs": lambda x: [x, x.relu() + 1, x.relu() + 1],
    },
    "DirectEnvInterpreter": {"env": lambda x: _affine(x)[-1:]},
    "CustomValueStoreInterpreter": {"node_outputs": _affine},
    "HookBasedInterpreter": {"hooked_values": _affine},
}


@pytest.mark.parametrize("debugged", [True, False])
def test_the_reference_documents_seven_examples_run_with_our_base_class(repo_root, debugged):
    folder: Path = repo_root.parent / REFERENCE
    files = sorted(folder.glob("*.txt")) if folder.is_dir() else []
    if not files:
        pytest.skip(f"the reference document is not beside the checkout, in ../{REFERENCE}")
    space: dict[str, Any] = {"fxdap": fxdap}
    found, names = [], []
    with Driver() if debugged else nullcontext(), redirect_stdout(io.StringIO()):
        for block in code_blocks(files[0].read_text()):
            code = block.replace("(torch.fx.Interpreter)", "(fxdap.Interpreter)")
            exec(compile(code, "<example>", "exec"), space)
            name = next(n for n in re.findall(r"class (\w+)", code) if n.endswith("Interpreter"))
            names.append(name)
            x = space["input_tensor"] if "input_tensor" in code else torch.tensor([-1.0, 2.0])
            interpreter = space["interpreter"]
            if "input_tensor" not in code:
                interpreter.run(x)
            found.append({key: list(getattr(interpreter, key).values()) for key in EXPECTED[name]})
            assert_same(found[-1], {key: make(x) for key, make in EXPECTED[name].items()}, name)
    assert names == list(EXPECTED)
