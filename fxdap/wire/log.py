"""The raw wire log of one process, for bug reports."""

import os
import threading
import time


class WireLog:
    """Appends every frame that a process reads or writes to `<role>-<pid>.log`.

    Any thread writes; each entry is one write, so that a killed process loses none.
    """

    def __init__(self, directory: str, role: str) -> None:
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, f"{role}-{os.getpid()}.log")
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - open for the process
        self._lock = threading.Lock()

    @classmethod
    def from_environment(cls, role: str) -> "WireLog | None":
        """The log that FXDAP_LOG asks for; None without it, or where it cannot be written."""
        directory = os.environ.get("FXDAP_LOG")
        if not directory:
            return None
        try:
            return cls(directory, role)
        except OSError:
            return None

    def received(self, peer: str, text: bytes) -> None:
        """Note what `peer` sent."""
        self._write(f"{peer} -> ", text)

    def sent(self, peer: str, text: bytes) -> None:
        """Note what was sent to `peer`."""
        self._write(f"{peer} <- ", text)

    def note(self, text: str) -> None:
        """Note something that is no message."""
        self._write("-- ", text.encode(errors="replace"))

    def close(self) -> None:
        """Write nothing more."""
        with self._lock:
            self._file.close()

    def _write(self, prefix: str, text: bytes) -> None:
        now = time.time()
        stamp = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1e6):06d} "
        with self._lock:
            try:
                self._file.write((stamp + prefix).encode() + text + b"\n")
            except (OSError, ValueError):  # a full disk or a closed log must not end the session
                pass
