"""What an editor shows beside DAP: position, selector matches, progress of a capture."""

from pathlib import Path

from tests.dialogue.conftest import Connect

SLOW_MODEL = """
import time
import torch

print("loading", flush=True)

def model():
    while True:
        time.sleep(0.01)
"""


def test_position_and_selector_matches_are_told_on_request(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("relu", graph="mlp.py:MLP", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "relu")
    place = dialogue.client.request("fxdapPosition", {"threadId": dialogue.thread})
    assert (place.graph, place.node, place.position, place.count) == ("MLP", "relu", 10, 15)
    found = dialogue.client.request("fxdapMatch", {"selector": "target:aten.linear"})
    first, *nodes = found.choices
    assert first == {
        "label": "Break on target:aten.linear",
        "description": "matches 3 nodes",
        "selector": "target:aten.linear",
    }
    assert [node["selector"] for node in nodes] == ["linear", "linear_1", "linear_2"]
    assert nodes[0]["label"].startswith("%linear: f32[2, 16] = aten.linear.default(")
    (wrong,) = dialogue.client.request("fxdapMatch", {"selector": "op:relu"}).choices
    assert wrong["description"].startswith("unknown opcode 'relu'")
    (example, *_) = dialogue.client.request("fxdapMatch", {"selector": ""}).choices
    assert example["example"] == "relu*"


def test_a_capture_that_takes_long_is_reported_and_can_be_cancelled(
    connect: Connect, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW_MODEL)
    dialogue = connect()
    dialogue.client.request("initialize", {"adapterID": "fxdap", "supportsProgressReporting": True})
    graph = f"{tmp_path / 'slow.py'}:model"
    seq = dialogue.client.send("launch", {"graph": graph})
    started = dialogue.client.wait_event("progressStart", timeout=60)
    assert started.title == f"Capturing {graph}"
    assert started.cancellable is True
    dialogue.client.wait_event("output", 60, where=lambda body: "loading" in body.output)
    dialogue.client.request("cancel", {"progressId": started.progress_id})
    assert dialogue.client.wait_event("progressEnd").progress_id == started.progress_id
    dialogue.client.wait_response(seq, timeout=60)
    dialogue.ended()


def test_the_stopped_node_is_written_as_a_script(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("relu", graph="mlp.py:MLP", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "relu")
    ask = {"threadId": dialogue.thread, "from": ["linear"]}
    answer = dialogue.client.request("fxdapRepro", ask)
    assert answer.file_name == "repro_relu.py"
    assert "linear = torch.ops.aten.linear.default(" in answer.content
    assert answer.content.endswith("print(relu)\n")
    missing = {"threadId": dialogue.thread, "at": "nothing"}
    assert dialogue.refused("fxdapRepro", missing) == "the graph has no node 'nothing'"
