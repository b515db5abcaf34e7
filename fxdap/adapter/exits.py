"""How a process ended, in words."""

import signal
from collections.abc import Sequence
from typing import NamedTuple

_HINTS = {
    "SIGKILL": "; the system does that when memory runs out, or somebody did",
    "SIGSEGV": ", a crash in native code",
    "SIGABRT": ", an abort in native code",
    "SIGBUS": ", a crash in native code",
    "SIGFPE": ", a crash in native code",
    "SIGILL": ", a crash in native code",
}


class Exit(NamedTuple):
    """How a process ended; `signal` is 0 unless one ended it."""

    code: int
    signal: int = 0

    @classmethod
    def of(cls, returncode: int) -> "Exit":
        """From a return code that is negative for a signal."""
        return cls(128 - returncode, -returncode) if returncode < 0 else cls(returncode)

    @property
    def signal_name(self) -> str:
        """Such as SIGKILL; empty if no signal ended the process."""
        if not self.signal:
            return ""
        try:
            return signal.Signals(self.signal).name
        except ValueError:
            return f"signal {self.signal}"


def ended(exit: Exit | None) -> str:
    """Why a process answers no more."""
    if exit is None:
        return "the process has closed its connection to the debugger"
    if exit.signal:
        return f"the process was ended by {exit.signal_name}"
    return f"the process has ended with code {exit.code}"


def crash_report(exit: Exit, pid: int | None, stopped: bool, last_command: str) -> str:
    """What to tell of a process that a signal ended; empty if none did."""
    name = exit.signal_name
    if not name:
        return ""
    doing = "while it was stopped" if stopped else "while it ran"
    last = f" (last request: {last_command})" if last_command else ""
    return f"fxdap: process {pid} was ended by {name}{_HINTS.get(name, '')} {doing}{last}\n"


def launch_failure(exit: Exit, python: Sequence[str], stderr: str) -> str:
    """Why a process ended before its debugger answered, and what to do about it."""
    import shlex

    shown = shlex.join(python)
    missing = _missing_module(stderr)
    if missing:
        return (
            f"{shown} has no module {missing!r}; install fxdap there: {shown} -m pip install fxdap"
        )
    how = f"was ended by {exit.signal_name}" if exit.signal else f"ended with code {exit.code}"
    last = stderr.strip().rpartition("\n")[2][:300]
    return f"{shown} {how} before the debugger in it was ready" + (f": {last}" if last else "")


def _missing_module(stderr: str) -> str:
    """The module that an import did not find, from Python's last words."""
    _, found, rest = stderr.rpartition("No module named ")
    if not found:
        return ""
    return rest.split("\n")[0].strip(" ')").split(".")[0]
