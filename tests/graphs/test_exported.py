"""ExportedPrograms: bound from their signature, their buffers' changes told, guards explained."""

import copy

import pytest
import torch
from torch.export import ExportedProgram
from torch.fx import Interpreter

from fxdap.graphs.diagnosis import diagnose
from fxdap.graphs.errors import TargetError
from fxdap.graphs.target import load_target
from fxdap.server.changes import changed_by
from fxdap.server.env_tree import places
from fxdap.view.guards import guard_conditions
from fxdap.view.listing import build_listing
from sample_models import exported
from tests.engine.driver import Driver, assert_same, kept_values

FORMS = ["program", "strict", "core"]
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")


@pytest.fixture(scope="module", params=FORMS)
def form(request) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def original(form: str) -> ExportedProgram:
    program: ExportedProgram = getattr(exported, form)()
    return program


@pytest.fixture
def made(original: ExportedProgram) -> ExportedProgram:
    """A copy: running a program writes into its own buffers."""
    return copy.deepcopy(original)


def names_by_kind(program) -> dict[str, list[str]]:
    given = places(program).given
    return {kind: [program.nodes[i].name for i in found] for kind, found in given.items() if found}


def at_end(module, args=(), kwargs=None):
    """What a run gave, and its frame's program, values and changes at the output node."""
    held = []

    def note(_, thread, stop):
        frame = thread.frames[-1]
        nodes = frame.program.nodes
        changed = {nodes[i].name: nodes[w].name for i, w in changed_by(frame).items()}
        held.append((frame.program, kept_values(frame), changed))

    driver = Driver(at_stop=note)
    driver.break_on("op:output")
    with driver:
        result = module(*args, **(kwargs or {}))
    return result, *held[0]


def test_the_module_of_a_program_gives_what_the_module_gives(made):
    args, kwargs = exported.example_inputs()
    expected = exported.model()(*args, **kwargs)
    module = made.module()
    result, _, values, _ = at_end(module, args, kwargs)
    assert_same(result, expected)
    assert values["options_scale"] == 2.0
    assert values["extras_shift_0"] is args[2]["shift"][0]
    assert values["mask"] is kwargs["mask"]


def test_what_a_program_holds_is_grouped_by_its_kind(made):
    args, kwargs = exported.example_inputs()
    _, program, _, _ = at_end(made.module(), args, kwargs)
    found = {kind: sorted(names) for kind, names in names_by_kind(program).items()}
    assert found == {
        "inputs": sorted(
            ["x", "options_offset", "options_scale", "extras_shift_0", "extras_shift_1", "mask"]
        ),
        "parameters": ["fc_bias", "fc_weight", "norm_bias", "norm_weight"],
        "buffers": ["count", "norm_num_batches_tracked", "norm_running_mean", "norm_running_var"],
        "constants": ["bias", "lifted_tensor_0"],
    }


def test_changed_buffers_name_the_node_that_wrote_them(form, made):
    args, kwargs = exported.example_inputs()
    _, _, values, changed = at_end(made.module(), args, kwargs)
    buffers = ["count", "norm_num_batches_tracked", "norm_running_mean", "norm_running_var"]
    assert sorted(changed) == buffers
    assert torch.equal(values["norm_num_batches_tracked"], torch.tensor(1))
    if form == "core":
        assert {name.rpartition("_default")[0] for name in changed.values()} == {"copy_"}
    else:
        assert changed["norm_running_var"] == "batch_norm"
        assert changed["count"] == "add_"


def test_the_programs_own_graph_is_grouped_by_its_signature():
    with Driver() as driver:
        made = exported.program()
        inputs = [*made.state_dict.values()]
        specs = {s.target: s.arg.name for s in made.graph_signature.input_specs if s.target}
        held = {**made.state_dict, **made.constants}
        inputs = [held[target] for target in specs]
        args, kwargs = exported.example_inputs()
        inputs += torch.utils._pytree.tree_leaves((args, kwargs))
        Interpreter(made.graph_module).run(*inputs)
    found = names_by_kind(driver.added[-1])
    assert found["parameters"] == ["p_fc_weight", "p_fc_bias", "p_norm_weight", "p_norm_bias"]
    assert "b_norm_running_mean" in found["buffers"]
    assert found["constants"] == ["c_bias", "c_lifted_tensor_0"]
    assert found["inputs"][0] == "x"


def test_a_saved_program_runs_with_its_sample_inputs(form, made, tmp_path):
    path = tmp_path / f"{form}.pt2"
    torch.export.save(made, path)
    target = load_target(str(path))
    args, kwargs = target.require_inputs()
    result, program, _, _ = at_end(target.module, args, kwargs)
    assert isinstance(args[1], exported.Options)
    assert set(names_by_kind(program)) == {"inputs", "parameters", "buffers", "constants"}
    assert result["seen"] == (torch.tensor(1.0), 3)


def test_classes_that_a_saved_program_needs_are_asked_for(tmp_path, monkeypatch):
    path = tmp_path / "own.pt2"
    path.touch()

    def load(path):
        raise ModuleNotFoundError("No module named 'mine'")

    monkeypatch.setattr(torch.export, "load", load)
    with pytest.raises(TargetError, match="a function that returns"):
        load_target(str(path))


def test_the_guard_says_what_it_checks(made):
    module = made.module()
    conditions = guard_conditions(module)
    assert conditions[:3] == (
        "x.size()[0] == 2",
        "x.size()[1] == 4",
        "options.offset.size()[0] == 4",
    )
    lines = build_listing(module).text.splitlines()
    [index] = [i for i, line in enumerate(lines) if line.startswith("  %_guards_fn")]
    assert lines[index - 1] == (
        "  # checks that the inputs are like those of the export; computes nothing"
    )


def test_inputs_that_the_guard_refuses_are_explained(made):
    (_, *args), kwargs = exported.example_inputs()
    found = []

    def note(_, thread, stop):
        found.append(diagnose(thread.stop.exception, thread.frames[-1]))

    with Driver(at_stop=note), pytest.raises(AssertionError, match="Guard failed"):
        made.module()(torch.ones(3, 4), *args, **kwargs)
    [diagnosis] = found
    assert diagnosis is not None
    assert diagnosis.cause == (
        "the program was exported for inputs with x.size()[0] == 2, which these are not"
    )
    assert diagnosis.node == "_guards_fn"
