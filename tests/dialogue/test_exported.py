"""An ExportedProgram in a session: its kinds of values, and buffers that change meanwhile."""

from tests.dialogue.conftest import Connect


def test_an_exported_programs_buffers_are_shown_as_they_change(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("batch_norm", graph="exported.py:program", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "batch_norm")
    env = dialogue.scope("Env")
    kinds = ("inputs", "parameters", "buffers", "constants")
    assert {kind: env[kind].value for kind in kinds} == {
        "inputs": "6 values",
        "parameters": "4 values",
        "buffers": "4 values",
        "constants": "2 values",
    }
    before = dialogue.children(env["buffers"].variables_reference)
    assert before["count"].value == "f32[] cpu  1.0  changed by %add_"
    assert before["norm_running_mean"].value == "f32[4] cpu  min 0  max 0  mean 0"
    dialogue.go("next")
    dialogue.stopped("step", "add")
    env = dialogue.scope("Env")
    mean = dialogue.children(env["buffers"].variables_reference)["norm_running_mean"].value
    assert mean.endswith("changed by %batch_norm")
    assert not mean.startswith("f32[4] cpu  min 0  max 0")
    assert dialogue.value("norm_running_mean") == mean.removesuffix("  changed by %batch_norm")
    dialogue.go("continue")
    dialogue.ended()
    assert "exported.program returned {'y': f32[2, 4], 'seen': (f32[], 3)}" in (
        dialogue.client.output()
    )
