"""One scripted session that uses everything `initialize` offers; every message is checked.

`USED` says which capability a step of the script shows, so that none can be offered without one.
"""

import base64
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from fxdap.wire import envelope
from fxdap.wire.client import RequestFailed
from fxdap.wire.offer import CAPABILITIES
from tests.dialogue import test_leaving
from tests.dialogue.conftest import Connect
from tests.dialogue.dialogue import Dialogue

CLIENT = {
    "adapterID": "fxdap",
    "clientID": "test",
    "supportsVariablePaging": True,
    "supportsMemoryReferences": True,
    "supportsMemoryEvent": True,
    "supportsInvalidatedEvent": True,
    "supportsProgressReporting": True,
    "supportsANSIStyling": True,
}

Step = Callable[["Script"], None]
USED: dict[str, Step] = {}


def shows(*capabilities: str) -> Callable[[Step], Step]:
    """The step uses these capabilities. Steps run in the order they are written in."""

    def note(step: Step) -> Step:
        USED.update(dict.fromkeys(capabilities, step))
        return step

    return note


class Script:
    """The session, and what its steps share."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.ask = partial(dialogue.client.request, timeout=60)
        self.listing = ""
        self.lines: list[int] = []
        self.memory = ""

    def env(self) -> int:
        reference: int = self.dialogue.scopes()["Env"].variables_reference
        return reference

    def row(self, name: str) -> Any:
        return self.dialogue.children(self.env())[name]


@shows("supports_breakpoint_locations_request", "supports_loaded_sources_request")
def finds_the_lines(script: Script) -> None:
    source = script.ask("loadedSources").sources[0]
    script.listing = source.path
    body = script.ask(
        "breakpointLocations", {"source": {"path": source.path}, "line": 1, "endLine": 99}
    )
    script.lines = [location.line for location in body.breakpoints]
    assert len(script.lines) == 7
    given = {"source": {"path": source.path}, "sourceReference": 0}
    assert script.ask("source", given).content.count("%relu_") == 2


@shows(
    "supports_function_breakpoints",
    "supports_conditional_breakpoints",
    "supports_hit_conditional_breakpoints",
    "supports_log_points",
    "breakpoint_modes",
    "exception_breakpoint_filters",
    "supports_exception_filter_options",
)
def sets_breakpoints(script: Script) -> None:
    ask = script.ask
    before, last = script.lines[-2:]
    wanted = [
        {"line": before, "mode": "after", "condition": "True", "hitCondition": "1"},
        {"line": last, "logMessage": "sum {add.sum().item() > 0}"},
    ]
    set_ = ask("setBreakpoints", {"source": {"path": script.listing}, "breakpoints": wanted})
    assert [b.verified for b in set_.breakpoints] == [True, True]
    function = {"breakpoints": [{"name": "fc", "condition": "x.dim() == 2", "hitCondition": ">0"}]}
    assert ask("setFunctionBreakpoints", function).breakpoints[0].verified
    filters = [{"filterId": "mutation", "condition": "relu_"}]
    options = {"filters": ["raised"], "filterOptions": filters}
    assert [b.verified for b in ask("setExceptionBreakpoints", options).breakpoints] == [True] * 2


@shows("supports_configuration_done_request")
def starts(script: Script) -> None:
    script.ask("configurationDone")
    script.dialogue.stopped("function breakpoint", "fc")


@shows("supports_delayed_stack_trace_loading", "supports_modules_request")
def reads_the_stack(script: Script) -> None:
    one, rest = script.dialogue.stack(levels=1), script.dialogue.stack(start=1)
    assert len(one) == 1
    assert one[0].instruction_pointer_reference
    modules = script.ask("modules", {"startModule": 0, "moduleCount": 10})
    assert modules.total_modules == 2
    assert rest[0].module_id == modules.modules[1].id


@shows("additional_module_columns")
def counts_parameters(script: Script) -> None:
    columns = [c.attribute_name for c in CAPABILITIES.additional_module_columns or []]
    assert columns == ["className", "parameters", "bytes"]
    raw = envelope.encode(script.dialogue.client.messages[-1])
    assert b'"className":"Linear","parameters":20,"bytes":80' in raw


@shows(
    "supports_evaluate_for_hovers",
    "supports_clipboard_context",
    "supports_value_formatting_options",
    "supports_ansi_styling",
)
def evaluates(script: Script) -> None:
    dialogue = script.dialogue
    assert dialogue.evaluate("x", "hover").result.startswith("f32[2, 4]")
    assert "0.7143" in dialogue.evaluate("x", "clipboard").result
    given = {"expression": "x.numel() * 4", "frameId": dialogue.frame, "format": {"hex": True}}
    assert script.ask("evaluate", given).result == "0x20"
    assert dialogue.value("torch.tensor([float('nan')])").endswith("\x1b[31mnan 1\x1b[39m")


@shows("supports_completions_request", "completion_trigger_characters")
def completes(script: Script) -> None:
    given = {"frameId": script.dialogue.frame, "text": "x.sh", "column": 5}
    assert [t.label for t in script.ask("completions", given).targets][:1] == ["shape"]


@shows("supports_step_in_targets_request")
def finds_what_can_be_entered(script: Script) -> None:
    (target,) = script.ask("stepInTargets", {"frameId": script.dialogue.frame}).targets
    assert target.label == "fc  Linear, traced"


@shows("supports_stepping_granularity", "supports_single_thread_execution_requests")
def steps(script: Script) -> None:
    given = {"threadId": script.dialogue.thread, "granularity": "line", "singleThread": True}
    script.ask("next", given)
    script.dialogue.stopped("step", "view")


@shows("supports_disassemble_request", "supports_instruction_breakpoints")
def disassembles(script: Script) -> None:
    at = script.dialogue.stack(levels=1)[0].instruction_pointer_reference
    given = {"memoryReference": at, "instructionOffset": -4, "instructionCount": 12}
    found = script.ask("disassemble", given).instructions
    assert [i.presentation_hint for i in found] == ["invalid"] * 2 + [None] * 7 + ["invalid"] * 3
    assert found[4].instruction.startswith("%view")
    wanted = {"instructionReference": found[5].address, "offset": 1}
    set_ = script.ask(
        "setInstructionBreakpoints", {"breakpoints": [wanted, {**wanted, "offset": 0}]}
    )
    assert [b.message for b in set_.breakpoints] == ["before %view_1", "before %relu_"]
    script.dialogue.go("continue")
    stop = script.dialogue.stopped("instruction breakpoint", "relu_")
    assert stop.hit_breakpoint_ids == [set_.breakpoints[1].id]


@shows("supports_read_memory_request", "supports_write_memory_request")
def reads_and_writes_memory(script: Script) -> None:
    row = script.dialogue.evaluate("x")
    script.memory = row.memory_reference
    given = {"memoryReference": row.memory_reference, "offset": 4, "count": 40}
    body = script.ask("readMemory", given)
    assert body.unreadable_bytes == 12
    assert struct.unpack("<7f", base64.b64decode(body.data))[6] == 1.0
    data = base64.b64encode(struct.pack("<f", 7.5)).decode()
    assert script.ask("writeMemory", {**given, "data": data}).bytes_written == 4
    assert script.dialogue.value("x[0, 1].item()") == "7.5"
    assert script.dialogue.client.wait_event("memory", 60).memory_reference == script.memory
    assert "lie outside" in script.dialogue.refused(
        "writeMemory", {"memoryReference": row.memory_reference, "offset": 30, "data": data}
    )


@shows("supports_step_back", "supports_set_variable", "supports_set_expression")
def goes_back_and_edits(script: Script) -> None:
    dialogue = script.dialogue
    dialogue.go("stepBack")
    assert dialogue.stopped("step", "relu_").text == "undid the change of memory"
    dialogue.go("stepBack")
    dialogue.stopped("step", "view")
    given = {"variablesReference": script.env(), "name": "fc", "value": "fc * 0"}
    assert script.ask("setVariable", given).value.startswith("f32[2, 4]")
    given = {"expression": "fc[0, 1]", "value": "4", "frameId": dialogue.frame}
    assert script.ask("setExpression", given).value.startswith("f32[]")
    assert dialogue.client.wait_event("invalidated", 60).areas == ["variables"]
    for count in (4.0, 0.0):
        assert dialogue.value("fc.sum().item()") == str(count)
        dialogue.go("stepBack")
        dialogue.stopped("step", "view")


@shows("supports_goto_targets_request", "supports_restart_frame")
def jumps_and_begins_again(script: Script) -> None:
    dialogue = script.dialogue
    given = {"source": {"path": script.listing}, "line": script.lines[1]}
    (target,) = script.ask("gotoTargets", given).targets
    assert target.label == "Go back to %fc, undoing 1 node"
    script.ask("goto", {"threadId": dialogue.thread, "targetId": target.id})
    dialogue.stopped("goto", "fc")
    script.ask("restartFrame", {"frameId": dialogue.frame})
    dialogue.stopped("restart", "x")
    for reason, node in (("function breakpoint", "fc"), ("instruction breakpoint", "relu_")):
        dialogue.go("continue")
        dialogue.stopped(reason, node)


@shows("supports_data_breakpoints")
def watches_data(script: Script) -> None:
    info = script.ask("dataBreakpointInfo", {"variablesReference": script.env(), "name": "fc"})
    wanted = [{"dataId": info.data_id, "accessType": "write"}]
    assert script.ask("setDataBreakpoints", {"breakpoints": wanted}).breakpoints[0].verified
    reference = script.row("fc").memory_reference
    script.dialogue.go("continue")
    stop = script.dialogue.stopped("exception", "relu_")
    assert stop.hit_breakpoint_ids is not None
    assert reference in [
        event.body.memory_reference
        for event in script.dialogue.client.events
        if event.name == "memory"
    ]


@shows("supports_exception_info_request")
def asks_what_was_found(script: Script) -> None:
    assert script.dialogue.exception().exception_id == "InPlaceWrite"


def follows_locations(script: Script) -> None:
    row = script.row("fc")
    place = script.ask("locations", {"locationReference": row.declaration_location_reference})
    assert place.source.path == script.listing
    origin = script.ask("locations", {"locationReference": row.value_location_reference})
    assert origin.source.name == "inplace.py"
    assert "is unknown" in script.dialogue.refused("locations", {"locationReference": 9999})


@shows("supports_cancel_request")
def cancels(script: Script) -> None:
    client = script.dialogue.client
    expression = "__import__('time').sleep(600)"
    frame = script.dialogue.frame
    seq = client.send("evaluate", {"expression": expression, "frameId": frame, "context": "repl"})
    script.ask("cancel", {"requestId": seq})
    with pytest.raises(RequestFailed, match="cancelled"):
        client.wait_response(seq, timeout=60)


@shows("supports_restart_request")
def restarts(script: Script) -> None:
    script.ask("setInstructionBreakpoints", {"breakpoints": []})
    script.ask("restart", {})
    script.dialogue.stopped("function breakpoint", "fc")


@shows("supports_terminate_threads_request")
def ends_a_thread(script: Script) -> None:
    assert "there is no thread 77" in script.dialogue.refused(
        "terminateThreads", {"threadIds": [77]}
    )
    script.ask("terminateThreads", {"threadIds": [script.dialogue.thread]})
    script.dialogue.ended()


@shows("supports_terminate_request", "support_terminate_debuggee")
def says_goodbye(script: Script) -> None:
    script.ask("terminate", {})
    script.ask("disconnect", {"terminateDebuggee": True})


SCRIPT = [
    finds_the_lines,
    sets_breakpoints,
    starts,
    reads_the_stack,
    counts_parameters,
    evaluates,
    completes,
    finds_what_can_be_entered,
    steps,
    disassembles,
    reads_and_writes_memory,
    goes_back_and_edits,
    jumps_and_begins_again,
    watches_data,
    asks_what_was_found,
    follows_locations,
    cancels,
    restarts,
    ends_a_thread,
    says_goodbye,
]

ELSEWHERE = {"support_suspend_debuggee": test_leaving.test_a_graph_left_paused_is_found_as_it_was}
"""Shown by sessions of their own: a launched program cannot be left paused."""


def test_a_session_touches_every_capability(connect: Connect) -> None:
    dialogue = connect()
    dialogue.client.request("initialize", CLIENT)
    dialogue.client.send(
        "launch",
        {
            "cwd": str(dialogue.folder),
            "graph": "inplace.py:model",
            "capture": "symbolic_trace",
            "stopOnEntry": False,
        },
    )
    dialogue.client.wait_event("initialized", timeout=60)
    script = Script(dialogue)
    for step in SCRIPT:
        step(script)


def test_no_capability_is_left_out() -> None:
    offered = {name for name, value in structs.asdict(CAPABILITIES).items() if value}
    assert offered - USED.keys() - ELSEWHERE.keys() == set()
    assert {step.__name__ for step in USED.values()} <= {step.__name__ for step in SCRIPT}
