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
