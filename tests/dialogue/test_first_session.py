"""The main path: launch, stop on entry, look, step, continue, end."""

from pathlib import Path

from tests.dialogue.dialogue import Dialogue


def test_stops_on_entry_steps_and_ends_with_the_result(dialogue: Dialogue) -> None:
    dialogue.launch(graph="mlp.py:MLP")
    stop = dialogue.stopped("entry", "fc1_weight")
    assert stop.description == "Paused on entry"
    assert stop.all_threads_stopped is True
    dialogue.go("next")
    dialogue.stopped("step", "fc1_bias")
    assert list(dialogue.scope("Returned")) == ["fc1_weight"]
    dialogue.go("continue")
    dialogue.ended(0)
    assert "MLP returned f32[2, 4] cpu" in dialogue.client.output("console")


def test_shows_arguments_env_stack_and_watch_at_a_breakpoint(dialogue: Dialogue) -> None:
    dialogue.launch("aten.relu", graph="mlp.py:MLP", stopOnEntry=False)
    stop = dialogue.stopped("function breakpoint", "relu")
    assert len(stop.hit_breakpoint_ids or []) == 1
    names = [
        (f.name, f.line, f.source and Path(f.source.path or "").name) for f in dialogue.stack()
    ]
    assert names[0][0] == "%relu  aten.relu.default"
    assert names[0][2] == "MLP.fxgraph"
    assert names[1] == ("MLP", 16, "mlp.py")
    node = dialogue.scope("Node")
    assert node["target"].value == "aten.relu.default"
    assert node["self ← %linear"].value.startswith("f32[2, 16] cpu  min ")
    env = dialogue.scope("Env")
    assert env["linear"].evaluate_name == "linear"
    assert dialogue.value("tuple(linear.shape)") == "(2, 16)"
    dialogue.go("next")
    dialogue.stopped("step", "linear_1")
    assert dialogue.value("bool((relu == torch.relu(linear)).all())") == "True"
    dialogue.go("continue")
    dialogue.ended(0)


def test_the_listing_line_of_the_top_frame_names_the_node(dialogue: Dialogue) -> None:
    dialogue.launch("aten.relu", graph="mlp.py:MLP", stopOnEntry=False)
    dialogue.stopped("function breakpoint")
    top = dialogue.stack(levels=1)[0]
    assert top.source is not None
    assert top.source.path is not None
    line = Path(top.source.path).read_text().splitlines()[top.line - 1]
    assert line.strip() == "%relu: f32[2, 16] = aten.relu.default(%linear)"
    dialogue.go("continue")
    dialogue.ended(0)
