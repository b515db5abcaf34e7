"""Every mistake of sample_models/mistakes/ is told with cause and cure, stopped on it and after."""

import io
import re
import runpy
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx

from fxdap.graphs.diagnosis import Diagnosis, diagnose
from tests.engine.driver import Driver
from tests.graphs.test_interpreter import REFERENCE, code_blocks
from tests.graphs.test_interpreters import printed

MISTAKES = Path(__file__).resolve().parents[2] / "sample_models/mistakes"

# Of each mistake: where the debugger stops ("" if outside of a node), and words of cause and cure.
TOLD: dict[str, tuple[str, str, str]] = {
    "store_override": (
        "%x",
        "Recorder.map_nodes_to_values(self, node, value) overrides a method that torch calls "
        "before every node, as Interpreter.map_nodes_to_values(self, args, n)",
        "derive Recorder from fxdap.Interpreter",
    ),
    "store_super": (
        "%x",
        "Interpreter.map_nodes_to_values(self, args, n) was called with a node (%x) and a value "
        "(Tensor); it stores nothing",
        "run() itself stores what run_node returns",
    ),
    "post_hook": (
        "",
        "torch.fx.Interpreter has no 'register_node_post_hook'",
        "derive from fxdap.Interpreter, which has register_node_pre_hook and "
        "register_node_post_hook",
    ),
    "unknown_method": (
        "%relu",
        "torch.fx.Interpreter has no 'call_functions'",
        "the nearest real name is 'call_function'",
    ),
    "name_for_node": (
        "",
        "run_node takes a Node and was given the name 'x'",
        "next(n for n in self.graph.nodes if n.name == 'x')",
    ),
    "name_as_key": (
        "%add",
        "env is keyed by Node, not by name: 'relu'",
        "next(n for n in self.graph.nodes if n.name == 'relu')",
    ),
    "graph_for_module": (
        "",
        "Interpreter was given a Graph; it takes the GraphModule",
        "Interpreter(module, graph=graph)",
    ),
    "node_returned": (
        "%add",
        "the value of %relu, which %add reads, is a Node: Returning returned or stored a Node",
        "return what super().run_node(n) returned",
    ),
    "forgotten_return": (
        "%linear",
        "%x, which %linear reads, is None: Printing.run_node",
        "return the value, as in `return super().run_node(...)`, on every path",
    ),
    "freed_value": (
        "%output",
        "%x was freed by garbage_collect_values after %linear (line 4)",
        "pass garbage_collect_values=False",
    ),
    "later_value": (
        "%relu",
        "%add (line 6) has not run yet at %relu (line 5): it stands after it",
        "read it in the step of a later node",
    ),
    "other_graph": (
        "%output",
        "%relu is a node of another graph than the one that runs (which has a %relu of its own)",
        "take nodes from self.graph.nodes",
    ),
    "erased_node": (
        "%output",
        "%relu was erased from the graph",
        "node.replace_all_uses_with(other)",
    ),
    "own_run": (
        "%relu",
        "nothing stored the value of %linear (line 4), which %relu (line 5) reads: OwnRun.run "
        "replaces torch's",
        "store it there too",
    ),
    "out_of_order": (
        "%relu",
        "the graph's nodes are out of order: %relu (line 5) reads %mul (line 6), which stands "
        "after it",
        "graph.inserting_before(reader)",
    ),
    "lint": (
        "",
        "the graph's nodes are out of order: %relu (line 5) reads %mul (line 6), which stands "
        "after it",
        "graph.inserting_before(reader)",
    ),
    "missing_target": ("%linear", "%linear (line 4) needs 'liner', which Model", "it has 'linear'"),
    "changed_parameter": (
        "%linear",
        "parameter or buffer %linear_weight is f32[2, 4] cpu, and the graph was made for f32[2, 3]",
        "give linear.weight as it was when the graph was made",
    ),
    "stale_submodules": (
        "%linear",
        "interpreter.submodules was taken when the Interpreter was made, and 'added' was added",
        "make the Interpreter after changing the module",
    ),
    "missing_input": (
        "%y",
        "the graph takes 2 inputs (x, y); run was given 1: 'y' is missing",
        "pass a value for 'y'",
    ),
    "keyword_input": (
        "",
        "Interpreter.run takes the graph's inputs by position only; 'x' was given by keyword",
        "in the order of the graph's placeholders",
    ),
}
SILENT = {"other_value", "stored_otherwise"}
"""Nothing fails in them; `verifyInterpreter` finds them."""


def run_mistake(name: str) -> tuple[list[tuple[str, Diagnosis | None]], BaseException]:
    """What is told at each stop, and the error that the script ends in."""
    told: list[tuple[str, Diagnosis | None]] = []

    def note(driver: Driver, thread: Any, stop: Any) -> None:
        told.append((driver.places[-1], diagnose(stop.exception, thread.frames[-1])))

    with Driver(at_stop=note), pytest.raises(Exception) as caught:  # noqa: PT011 - all kinds
        printed(lambda: runpy.run_path(str(MISTAKES / f"{name}.py"), run_name="__main__"))
    return told, caught.value


def without_lines(text: str) -> str:
    """Lines of a listing depend on whether the nodes' sources are known."""
    return re.sub(r" \(line \d+\)", "", text)


def test_every_mistake_has_a_sample_and_every_sample_is_tested():
    assert {path.stem for path in MISTAKES.glob("*.py")} == TOLD.keys() | SILENT


@pytest.mark.parametrize("name", TOLD)
def test_a_mistake_is_told_with_cause_and_cure(name):
    place, cause, cure = TOLD[name]
    stops, error = run_mistake(name)
    assert [at for at, _ in stops] == ([f"raised {place}"] if place else [])
    found = stops[0][1] if stops else diagnose(error)
    assert found is not None
    if stops:
        assert cause in found.cause
    assert without_lines(cause) in without_lines(found.cause)
    assert cure in found.cure


# torch puts a text in the place of a KeyError's Node when the error leaves the run.
@pytest.mark.parametrize(
    "name",
    sorted(TOLD.keys() - {"freed_value", "later_value", "other_graph", "erased_node"}),
)
def test_a_mistake_is_told_from_its_traceback_alone(name):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - all kinds
        printed(lambda: runpy.run_path(str(MISTAKES / f"{name}.py"), run_name="__main__"))
    found = diagnose(caught.value)
    if name == "name_as_key":
        assert found is None
        return
    assert found is not None
    assert without_lines(TOLD[name][1]) in without_lines(found.cause)
    assert TOLD[name][2] in found.cure


class Zipping(fx.Interpreter):
    def map_nodes_to_values(self, nodes: Any, values: Any) -> Any:
        for node, value in zip(nodes, values, strict=True):
            self.env[node] = value


class Named(fx.Interpreter):
    def map_nodes_to_values(self, node: fx.Node, value: Any) -> Any:  # type: ignore[override]
        self.env[node.name] = value  # type: ignore[index]


class ReturningValue(fx.Interpreter):
    def map_nodes_to_values(self, node: Any, value: Any) -> Any:
        return value


def told(work: Any) -> Diagnosis:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - all kinds
        work()
    found = diagnose(caught.value)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("cls", "how"),
    [
        (Zipping, "given %x's arguments it raised TypeError"),
        (Named, "given %x's arguments it raised AttributeError"),
        (ReturningValue, "for %x it returned something else (torch.fx.node.Node)"),
    ],
)
def test_a_store_breaks_in_many_ways_and_each_is_told(cls, how):
    module = fx.symbolic_trace(lambda x: x + 1)
    assert how in told(lambda: cls(module).run(1)).cause


def test_an_untraced_module_is_told():
    found = told(lambda: fx.Interpreter(torch.nn.Linear(1, 1)))
    assert found.cause == "Interpreter was given a Linear, which has no graph"


def test_values_that_torch_does_not_name_so_are_told():
    found = told(lambda: fx.Interpreter(fx.symbolic_trace(lambda x: x)).node_values)  # type: ignore[attr-defined]
    assert "values are in interpreter.env, by Node" in found.cure


def test_a_boxed_run_with_too_many_inputs_is_told():
    module = fx.symbolic_trace(lambda x: x + 1)
    found = told(lambda: fx.Interpreter(module).boxed_run([1, 2]))
    assert found.cause == "the graph takes 1 input (x); boxed_run was given 2"


def test_the_lifted_inputs_of_an_exported_graph_are_told():
    program = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    found = told(lambda: fx.Interpreter(program.graph_module).run(torch.ones(1, 2)))
    assert found.cause.startswith("the graph takes 3 inputs (p_weight, p_bias, input")
    assert "run program.module() instead" in found.cure


def test_graphs_of_modules_out_of_order_are_told_without_an_interpreter():
    path = MISTAKES / "out_of_order.py"
    text = path.read_text().replace("fx.Interpreter(module).run(", "module(")
    stops: list[Diagnosis | None] = []

    def note(driver: Driver, thread: Any, stop: Any) -> None:
        stops.append(diagnose(stop.exception, thread.frames[-1]))

    text = text.replace("    print(", "    module.recompile()\n    print(")
    with Driver(at_stop=note), pytest.raises(Exception):  # noqa: PT011, B017
        exec(compile(text, str(path), "exec"), {"__name__": "__main__"})
    assert stops[0] is not None
    assert "%relu (line 5) reads %mul (line 6)" in stops[0].cause


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        (lambda a, b: setattr(a, "target", "gone.weight"), "'gone.weight'"),
        (lambda a, b: setattr(b, "name", a.name), "two nodes are called 'weight'"),
    ],
)
def test_other_findings_of_lint_are_told(edit, cause):
    module = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).module()
    first, second = [node for node in module.graph.nodes if node.op == "get_attr"][:2]
    edit(first, second)
    assert cause in told(module.graph.lint).cause


class Uninitialised(fx.Interpreter):
    """Its own attribute, assigned too late: not something it takes torch to have."""

    def keep(self) -> None:
        self.values: list[Any] = []

    def run_node(self, n: fx.Node) -> Any:
        self.values.append(n)
        return super().run_node(n)


class Mistyped(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.hooked_values: list[Any] = []

    def run_node(self, n: fx.Node) -> Any:
        self.hooked_valeus.append(n)  # type: ignore[attr-defined]
        return super().run_node(n)


@pytest.mark.parametrize("cls", [Uninitialised, Mistyped])
def test_attributes_of_ones_own_are_ones_own(cls):
    with pytest.raises(AttributeError) as caught:
        cls(fx.symbolic_trace(lambda x: x + 1)).run(1)
    assert diagnose(caught.value) is None


@pytest.mark.parametrize("times", [1, 3])
def test_a_missing_target_of_a_called_module_is_told_however_it_is_run(times):
    module = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(1, 1)))
    stops: list[Diagnosis | None] = []

    def note(driver: Driver, thread: Any, stop: Any) -> None:
        stops.append(diagnose(stop.exception, thread.frames[-1]))

    with Driver(at_stop=note):
        for _ in range(times - 1):
            module(torch.ones(1))
        module.delete_submodule("0")
        with pytest.raises(AttributeError):
            module(torch.ones(1))
    assert stops[0] is not None
    assert "needs '0', which Sequential does not have" in stops[0].cause


def test_the_reference_documents_examples_are_explained_with_torchs_base_class(repo_root):
    folder = repo_root.parent / REFERENCE
    files = sorted(folder.glob("*.txt")) if folder.is_dir() else []
    if not files:
        pytest.skip(f"the reference document is not beside the checkout, in ../{REFERENCE}")
    space: dict[str, Any] = {}
    told_of: dict[str, str] = {}
    with Driver(), redirect_stdout(io.StringIO()):
        for block in code_blocks(files[0].read_text()):
            name = next(n for n in re.findall(r"class (\w+)", block) if n.endswith("Interpreter"))
            try:
                exec(compile(block, "<example>", "exec"), space)
            except Exception as error:
                found = diagnose(error)
                assert found is not None, name
                told_of[name] = str(found)
    stores = {n for n, text in told_of.items() if "map_nodes_to_values(self, args, n)" in text}
    assert stores == {
        "MyInterpreter",
        "ValueTrackerInterpreter",
        "ProcessingInterpreter",
        "ConditionalValueTrackingInterpreter",
    }
    assert told_of.keys() - stores == {"HookBasedInterpreter"}
    assert "has no 'register_node_post_hook'" in told_of["HookBasedInterpreter"]
    assert all("fxdap.Interpreter" in text for text in told_of.values())
