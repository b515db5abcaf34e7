"""A user's Interpreter does under the debugger exactly what it does without, and none is blamed."""

import traceback
import warnings
from typing import Any

import pytest
import torch
from torch import fx

from fxdap.graphs.diagnosis import Diagnosis, diagnose
from tests.engine.driver import Driver, assert_same
from tests.graphs.correct_interpreters import CORRECT, FAILING, Model
from tests.graphs.test_interpreters import printed

INPUTS = (torch.linspace(-1, 1, 6).reshape(2, 3), torch.ones(2, 3))


def outcome(cls: Any, run: Any) -> dict[str, Any]:
    """All that a run leaves: what it printed, warned of, returned or raised, and keeps."""
    module = fx.symbolic_trace(Model())
    kept: list[Any] = []

    def work() -> Any:
        try:
            interpreter, result = run(cls, module, INPUTS)
        except Exception as error:
            return type(error), error.args, traceback.format_exception_only(error)
        kept.append(interpreter)
        return result

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result, text = printed(work)
    return {
        "result": result,
        "printed": text,
        "warned": [str(each.message) for each in warned],
        "attributes": [attributes(interpreter) for interpreter in kept],
    }


def attributes(interpreter: fx.Interpreter) -> dict[str, Any]:
    """The attributes by name, with nodes by name too, since each run has a module of its own."""
    return {k: plain(v) for k, v in vars(interpreter).items() if not k.startswith("_")}


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    comparable = isinstance(value, (torch.Tensor, str, int, float, type(None)))
    return value if comparable else type(value).__name__


def debugged(cls: Any, run: Any) -> tuple[dict[str, Any], Driver, list[Diagnosis]]:
    told: list[Diagnosis] = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        if stop.exception is not None:
            found = diagnose(stop.exception, thread.frames[-1])
            told.extend([found] if found else [])

    driver = Driver(at_stop=look, entry=True)
    driver.forever = "over"
    with driver:
        found = outcome(cls, run)
    return found, driver, told


def name(value: Any) -> str:
    return str(value.__name__).strip("_")


@pytest.mark.parametrize(("cls", "run"), CORRECT + FAILING, ids=name)
def test_a_correct_interpreter_is_the_same_under_the_debugger_and_nothing_is_said(cls, run):
    expected = outcome(cls, run)
    found, driver, told = debugged(cls, run)
    assert_same(found, expected)
    assert told == []
    assert driver.notices == []
    assert driver.places


@pytest.mark.parametrize(("cls", "run"), FAILING, ids=name)
def test_an_error_of_the_users_own_is_left_to_speak_for_itself(cls, run):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any error is diagnosed
        run(cls, fx.symbolic_trace(Model()), INPUTS)
    assert diagnose(caught.value) is None


def test_there_are_many_of_them():
    assert len(CORRECT) >= 30
