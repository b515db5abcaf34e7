import signal

import pytest

from fxdap.adapter.exits import Exit, crash_report, ended, launch_failure


def test_a_signal_is_told_by_name_and_in_the_code() -> None:
    exit = Exit.of(-signal.SIGSEGV)
    assert exit == Exit(code=139, signal=11)
    assert crash_report(exit, 42, True, "next") == (
        "fxdap: process 42 was ended by SIGSEGV, a crash in native code "
        "while it was stopped (last request: next)\n"
    )
    assert ended(exit) == "the process was ended by SIGSEGV"


def test_a_code_needs_no_report() -> None:
    assert crash_report(Exit.of(3), 42, False, "") == ""
    assert ended(Exit.of(3)) == "the process has ended with code 3"


@pytest.mark.parametrize(
    "stderr",
    [
        "/usr/bin/python: Error while finding module specification for 'fxdap.server' "
        "(ModuleNotFoundError: No module named 'fxdap')\n",
        "/usr/bin/python: No module named fxdap.server\n",
        "Traceback (most recent call last):\nModuleNotFoundError: No module named 'fxdap'\n",
    ],
)
def test_a_missing_module_is_recognised_however_python_says_it(stderr: str) -> None:
    assert launch_failure(Exit(1), ["my python"], stderr) == (
        "'my python' has no module 'fxdap'; install fxdap there: 'my python' -m pip install fxdap"
    )
