import pytest

from fxdap.adapter.states import LATER, LAUNCH, OVER, Action, State, action
from fxdap.wire.messages import REQUESTS


@pytest.mark.parametrize("command", REQUESTS)
@pytest.mark.parametrize("state", State)
def test_every_request_has_its_place_in_every_state(state: State, command: str) -> None:
    verdict = action(state, command)
    assert isinstance(verdict, Action) or verdict


@pytest.mark.parametrize("state", State)
def test_disconnect_is_served_in_every_state(state: State) -> None:
    assert action(state, "disconnect") is Action.SERVE


@pytest.mark.parametrize("command", sorted(set(REQUESTS) - {"initialize", "disconnect"}))
def test_a_running_debuggee_answers_what_the_adapter_does_not(command: str) -> None:
    own = {"launch", "attach", "restart", "terminate", "cancel"}
    assert (action(State.RUNNING, command) is Action.RELAY) == (command not in own)


def test_a_request_of_the_debuggees_is_refused_while_there_is_none() -> None:
    states = (State.READY, State.STARTING, State.RUNNING, State.ENDED)
    verdicts = [action(state, "stackTrace") for state in states]
    assert verdicts == [LAUNCH, LATER, Action.RELAY, OVER]
