"""Runs in the client's terminal: starts the debuggee there and reports how it ended.

Started by path in isolated mode, so that no file of the user's folder can stand in its way:
the standard library only. `launcher.py HOST:PORT COMMAND...`, with the token in FXDAP_TOKEN.
"""

import json
import os
import signal
import socket
import sys
import threading


class Report:
    """The connection to the adapter: events out; its end means that the debuggee must end."""

    def __init__(self, address: str, token: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=10)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._seq = 0
        self._token = token

    def send(self, event: str, **body: object) -> None:
        """Send one event, with the token; the adapter may be gone."""
        self._seq += 1
        message = {"seq": self._seq, "type": "event", "event": event, "body": body}
        text = json.dumps(message).encode()
        try:
            self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
        except OSError:
            pass

    def greet(self) -> None:
        """Show the token."""
        self.send("fxdapLauncher", token=self._token, pid=os.getpid())

    def wait_closed(self) -> None:
        """Wait until the adapter closes the connection."""
        try:
            while self._socket.recv(4096):
                pass
        except OSError:
            pass


def main(arguments: list[str]) -> int:
    """Start the command in the foreground of this terminal, and wait for it."""
    address, *command = arguments
    try:
        report = Report(address, os.environ.get("FXDAP_TOKEN", ""))
    except OSError:
        print("fxdap: this debug session is over", file=sys.stderr)
        return 1
    report.greet()
    # The terminal's keys are for the debuggee; this process only waits.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        _become(command)
    _foreground(pid)
    report.send("fxdapStarted", pid=pid)
    threading.Thread(target=_kill_when_closed, args=(report, pid), daemon=True).start()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    _kill(pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    _foreground(os.getpgrp())
    report.send("fxdapExited", returncode=code)
    return 128 - code if code < 0 else code


def _become(command: list[str]) -> None:
    """In the child: a process group of its own, in the foreground; then the command."""
    try:
        os.setpgid(0, 0)
        _foreground(os.getpid())
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU):
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], command)
    except OSError as error:
        print(f"fxdap: cannot start {command[0]}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(127)


def _foreground(group: int) -> None:
    try:
        os.tcsetpgrp(0, group)
    except OSError:  # no terminal, or the child is not that far yet and does it itself
        pass


def _kill_when_closed(report: Report, pid: int) -> None:
    report.wait_closed()
    _kill(pid)


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
