"""Stops on NaN, Inf, metadata and in-place writes, as an editor sees them."""

from tests.dialogue.conftest import Connect


def test_the_nan_sample_stops_after_the_node_that_made_it(connect: Connect) -> None:
    dialogue = connect()
    seq = dialogue.begin(graph="nan.py:model", stopOnEntry=False)
    answer = dialogue.client.request(
        "setExceptionBreakpoints",
        {
            "filters": ["nan"],
            "filterOptions": [{"filterId": "inf", "condition": "!op:placeholder"}],
        },
    )
    assert [b.verified for b in answer.breakpoints] == [True, True]
    dialogue.run(seq)
    stop = dialogue.stopped("exception")
    assert stop.description == "Paused on Inf"
    assert "has Inf at [2, 0], 3 of 9 values" in (stop.text or "")
    info = dialogue.exception()
    assert (info.exception_id, info.break_mode) == ("Inf", "always")
    assert "has Inf at [2, 0]" in (info.description or "")
    assert list(dialogue.scope("Returned")) == ["div"]
    dialogue.go("continue")
    assert dialogue.stopped("exception").description == "Paused on NaN"
    dialogue.go("continue")
    dialogue.ended()


def test_the_inplace_sample_names_the_names_that_show_the_write(connect: Connect) -> None:
    dialogue = connect()
    seq = dialogue.begin(graph="inplace.py:model", capture="symbolic_trace", stopOnEntry=False)
    dialogue.client.request("setExceptionBreakpoints", {"filters": ["mutation", "meta"]})
    dialogue.run(seq)
    stop = dialogue.stopped("exception", "relu_")
    assert stop.description == "Paused on an in-place write"
    assert stop.text == "%relu_ wrote into %fc; %view shows it too; read later by %view_1"
    dialogue.go("next")
    dialogue.stopped("step", "view_1")
    dialogue.go("continue")
    dialogue.ended()


def test_a_data_breakpoint_is_offered_on_a_row_and_a_watch_and_survives(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("relu_", graph="inplace.py:model", capture="symbolic_trace", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "relu_")
    ask = dialogue.client.request
    env = dialogue.scopes()["Env"].variables_reference
    row = ask("dataBreakpointInfo", {"variablesReference": env, "name": "fc"})
    watch = ask("dataBreakpointInfo", {"name": "%fc", "frameId": dialogue.frame})
    argument = dialogue.scopes()["Node"].variables_reference
    assert row == watch
    assert row == ask("dataBreakpointInfo", {"variablesReference": argument, "name": "self ← %fc"})
    assert (row.description, row.can_persist) == ("%fc", True)
    assert row.access_types == ["read", "write", "readWrite"]
    assert ask("dataBreakpointInfo", {"name": "torch"}).data_id is None
    wanted = [{"dataId": row.data_id, "accessType": "write"}, {"dataId": "nonsense"}]
    known, unknown = ask("setDataBreakpoints", {"breakpoints": wanted}).breakpoints
    assert (known.verified, unknown.verified) == (True, False)
    assert "ask dataBreakpointInfo" in (unknown.message or "")
    dialogue.go("continue")
    stop = dialogue.stopped("data breakpoint", "relu_")
    assert stop.hit_breakpoint_ids == [known.id]
    dialogue.client.request("disconnect", {"terminateDebuggee": True})

    again = connect()
    seq = again.begin(graph="inplace.py:model", capture="symbolic_trace", stopOnEntry=False)
    again.client.request("setDataBreakpoints", {"breakpoints": wanted[:1]})
    again.run(seq)
    assert again.stopped("data breakpoint", "relu_").hit_breakpoint_ids == [known.id]
