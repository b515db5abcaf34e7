"""A process that the adapter starts: in its own group, so that nothing of it stays behind."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence

from fxdap.adapter.exits import Exit

_PIPE_SIZE = 1024 * 1024


class ChildProcess:
    """A child with pipes for its output, leader of its own session and process group.

    Threads: one calls `wait`; any may call `kill`.
    """

    def __init__(self, argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> None:
        self._popen = subprocess.Popen(
            argv,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self.pid = self._popen.pid
        self._guard = _Guard(self.pid)
        self._lock = threading.Lock()
        self._reaped = False

    def take_pipes(self) -> dict[str, int]:
        """The descriptors of its stdout and stderr, now the caller's."""
        return {
            "stdout": _detached(self._popen.stdout),
            "stderr": _detached(self._popen.stderr),
        }

    def kill(self) -> None:
        """Kill the process and everything in its group."""
        with self._lock:
            # Until it is reaped its number names no other process.
            if not self._reaped:
                kill_group(self.pid)

    def wait(self) -> Exit:
        """Wait for the end, kill what the process left running in its group, and reap it."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            kill_group(self.pid)
            self._reaped = True
            self._guard.dismiss()
            return Exit.of(self._popen.wait())


class _Guard:
    """Kills the group when the adapter is killed before it could.

    A shell that waits for a line from us: the end of the pipe instead means that we are gone.
    """

    def __init__(self, group: int) -> None:
        self._popen = subprocess.Popen(
            ["/bin/sh", "-c", f"read line || kill -s KILL -- -{group}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """The group is gone."""
        self._popen.communicate(b"\n")


def kill_group(pid: int) -> None:
    """Kill a process group; nothing happens if it is gone."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _detached(pipe: object) -> int:
    import fcntl
    import io

    assert isinstance(pipe, io.FileIO)
    fd = os.dup(pipe.fileno())
    pipe.close()
    # A larger pipe lets bursts of output run ahead of the client.
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        except OSError:
            pass
    return fd
