"""Which answers that were got ahead are given, and which are not any more."""

from typing import Any

import pytest
from msgspec import Raw, Struct
from msgspec.json import encode

from fxdap.adapter import read_ahead
from fxdap.adapter.read_ahead import FRESH_S, MOST, ReadAhead
from fxdap.wire.envelope import ABSENT, Request, Response

THREAD = {"threadId": 1}


class Talk:
    """A client and a debuggee on both sides of a ReadAhead, without processes or clocks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(read_ahead, "monotonic", lambda: self.now)
        self.asked: list[tuple[str, Any, Any]] = []
        self.given: list[tuple[str, Any]] = []
        self.ahead = ReadAhead(self._ask, self._pass_on)

    def _ask(self, command: str, arguments: Struct, then: Any) -> None:
        self.asked.append((command, encode(arguments).decode(), then))

    def _pass_on(self, request: Request, answer: Response | None) -> None:
        self.given.append((request.command, None if answer is None else bytes(answer.body)))

    def stop(self, thread: int = 1, *, tell: bool = True) -> None:
        self.asked.clear()
        self.given.clear()
        self.ahead.happened("stopped", thread)
        if tell:
            self.ahead.told()

    def take(self, command: str, **arguments: Any) -> bool:
        raw = Raw(encode(arguments)) if arguments else ABSENT
        return self.ahead.takes(Request(seq=1, command=command, arguments=raw))

    def answer(self, command: str, body: Any = None, *, success: bool = True) -> None:
        """The debuggee answers what was asked ahead first of all with that command."""
        found = next(each for each in self.asked if each[0] == command)
        self.asked.remove(found)
        found[2](_response(command, body, success=success))

    def lose(self) -> None:
        """No answer can come any more."""
        lost, self.asked = self.asked, []
        for _, _, then in lost:
            then(None)

    def settle(self, command: str, body: Any = None, **arguments: Any) -> None:
        """The debuggee answers what was relayed to it."""
        request = Request(seq=1, command=command, arguments=Raw(encode(arguments)))
        self.ahead.answered(request, _response(command, body))

    def relayed(self, command: str, body: Any, **arguments: Any) -> None:
        """What is asked and answered as if there was no ReadAhead."""
        assert not self.take(command, **arguments)
        self.settle(command, body, **arguments)

    def look(self, frame: int, scope: int) -> None:
        """What an editor asks, all of it relayed."""
        self.relayed("threads", {"threads": []})
        self.relayed("stackTrace", _stack(frame), **THREAD)
        self.relayed("scopes", _scopes(scope), frameId=frame)
        self.relayed("variables", {"variables": []}, variablesReference=scope)

    def commands(self) -> list[str]:
        return [command for command, _, _ in self.asked]


def _response(command: str, body: Any, *, success: bool = True) -> Response:
    raw = Raw(encode(body or {}))
    return Response(seq=1, request_seq=1, success=success, command=command, body=raw)


def _stack(frame: int) -> Any:
    return {"stackFrames": [{"id": frame, "name": "f", "line": 1, "column": 1}]}


def _scopes(*references: int) -> Any:
    named = [{"name": "s", "variablesReference": r, "expensive": False} for r in references]
    return {"scopes": named}


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Talk:
    talk = Talk(monkeypatch)
    talk.stop()
    return talk


@pytest.fixture
def looked(talk: Talk) -> Talk:
    """At the stop after one where everything was asked; frame 8 is on top now, scope 5 is there."""
    talk.look(frame=7, scope=5)
    talk.stop()
    return talk


def test_the_same_is_asked_about_the_frame_that_is_on_top_now(looked: Talk) -> None:
    assert looked.commands() == ["threads", "stackTrace"]
    looked.answer("threads")
    looked.answer("stackTrace", _stack(8))
    assert [each[:2] for each in looked.asked] == [
        ("scopes", '{"frameId":8}'),
        ("variables", '{"variablesReference":5}'),
    ]


def test_an_answer_that_is_there_is_given_once(looked: Talk) -> None:
    looked.answer("threads", {"threads": [{"id": 1, "name": "one"}]})
    assert looked.take("threads")
    assert looked.given == [("threads", b'{"threads":[{"id":1,"name":"one"}]}')]
    assert not looked.take("threads")


def test_an_answer_under_way_is_waited_for(looked: Talk) -> None:
    assert looked.take("threads")
    assert looked.given == []
    looked.answer("threads", {"threads": []})
    assert looked.given == [("threads", b'{"threads":[]}')]


def test_a_question_that_comes_before_it_is_asked_ahead_waits_too(talk: Talk) -> None:
    talk.look(frame=7, scope=5)
    talk.stop(tell=False)
    assert talk.take("threads")
    assert not talk.take("evaluate", expression="1")
    talk.ahead.told()
    assert talk.commands() == ["threads"]
    talk.answer("threads", {"threads": []})
    assert talk.given == [("threads", b'{"threads":[]}')]


def test_other_arguments_are_another_question(looked: Talk) -> None:
    looked.answer("stackTrace", _stack(8))
    assert not looked.take("stackTrace", threadId=1, levels=1)
    assert not looked.take("scopes", frameId=7)
    assert not looked.take("variables", variablesReference=5, start=0, count=10)


@pytest.mark.parametrize(
    "event", ["thread", "breakpoint", "invalidated", "memory", "module", "continued", "stopped"]
)
def test_an_event_makes_what_was_asked_ahead_void(looked: Talk, event: str) -> None:
    looked.answer("threads")
    looked.ahead.happened(event, 2)
    looked.answer("stackTrace", _stack(8))
    assert looked.commands() == []
    assert not looked.take("threads")
    assert not looked.take("stackTrace", **THREAD)


def test_output_does_not(looked: Talk) -> None:
    looked.answer("threads")
    looked.ahead.happened("output", 1)
    assert looked.take("threads")


@pytest.mark.parametrize("command", ["evaluate", "setVariable", "next", "setBreakpoints", "source"])
def test_another_request_makes_it_void(looked: Talk, command: str) -> None:
    looked.answer("threads")
    assert not looked.take(command)
    looked.answer("stackTrace", _stack(8))
    assert looked.commands() == []
    assert not looked.take("threads")


def test_the_answer_to_a_request_from_before_the_stop_makes_it_void(talk: Talk) -> None:
    """A statement on another thread may go on while this one stops, and write when it ends."""
    talk.look(frame=7, scope=5)
    assert not talk.take("evaluate", expression="x.add_(1)")
    talk.stop()
    talk.answer("threads")
    talk.settle("evaluate", expression="x.add_(1)")
    assert not talk.take("threads")
    talk.answer("stackTrace", _stack(8))
    assert talk.commands() == []


def test_an_old_answer_is_not_given(looked: Talk) -> None:
    looked.answer("threads")
    looked.now += FRESH_S * 2
    assert not looked.take("threads")
    assert not looked.take("stackTrace", **THREAD)


def test_what_cannot_be_answered_is_asked_by_the_client_itself(looked: Talk) -> None:
    looked.answer("threads", success=False)
    assert not looked.take("threads")
    assert looked.given == []


def test_an_error_is_the_answer_for_who_waits(looked: Talk) -> None:
    assert looked.take("threads")
    looked.answer("threads", success=False)
    assert looked.given == [("threads", b"{}")]


def test_who_waits_learns_that_no_answer_can_come(looked: Talk) -> None:
    assert looked.take("threads")
    looked.lose()
    assert looked.given == [("threads", None)]
    assert not looked.take("stackTrace", **THREAD)


def test_another_thread_is_asked_for_nothing(talk: Talk) -> None:
    talk.look(frame=7, scope=5)
    talk.stop(thread=2)
    assert talk.asked == []


def test_nothing_is_asked_after_a_stop_at_which_nothing_was(looked: Talk) -> None:
    looked.stop()
    assert looked.asked == []


def test_variables_below_the_scopes_and_frames_below_the_top_are_left_to_the_client(
    talk: Talk,
) -> None:
    """They may have to be computed, by code of the user's."""
    talk.relayed("stackTrace", _stack(7), **THREAD)
    talk.relayed("scopes", _scopes(5), frameId=7)
    talk.relayed("variables", {"variables": []}, variablesReference=6)
    talk.relayed("scopes", _scopes(9), frameId=4)
    talk.relayed("variables", {"variables": []}, variablesReference=9)
    talk.stop()
    talk.answer("stackTrace", _stack(8))
    assert talk.commands() == ["scopes"]


def test_no_more_is_asked_than_an_editor_would(talk: Talk) -> None:
    for levels in range(1, 2 * MOST):
        talk.relayed("stackTrace", _stack(7), threadId=1, levels=levels)
    talk.stop()
    assert len(talk.asked) == MOST


@pytest.mark.parametrize("body", [{"stackFrames": 7}, {"stackFrames": []}])
def test_an_odd_answer_is_passed_on_as_it_is(looked: Talk, body: Any) -> None:
    assert looked.take("stackTrace", **THREAD)
    looked.answer("stackTrace", body)
    assert looked.given == [("stackTrace", encode(body))]
    assert looked.commands() == ["threads"]


def test_arguments_that_cannot_be_read_are_left_to_the_debuggee(looked: Talk) -> None:
    assert not looked.take("variables", variablesReference="five")
