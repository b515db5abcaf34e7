"""A debuggee in a terminal of the client: started there by the launcher, which reports its end."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import DecodeError, Struct

from fxdap.adapter.command import Command
from fxdap.adapter.debuggee import Debuggee
from fxdap.adapter.exits import Exit, launch_failure
from fxdap.adapter.process import kill_group
from fxdap.adapter.rendezvous import Hello, Rendezvous
from fxdap.wire.configuration import Console
from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body
from fxdap.wire.envelope import Event, Response
from fxdap.wire.log import WireLog
from fxdap.wire.messages import RunInTerminalRequestArguments

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_PATIENCE_S = 60.0
_LAST_MESSAGES_S = 1.0
_UNKNOWN_EXIT = Exit(1)


class AskClient(Protocol):
    """Sends a reverse request; the callback gets the client's answer, None if it is gone."""

    def __call__(
        self, command: str, arguments: Struct, then: Callable[[Response | None], None]
    ) -> None: ...


class _Started(Struct, frozen=True):
    pid: int


class _Exited(Struct, frozen=True):
    returncode: int


class TerminalLaunch:
    """Has the client start the launcher, and hears from it how the debuggee ends.

    Threads: the *launcher* thread reads what the launcher reports; a timer gives up when the
    terminal does not come.
    """

    owned = True

    def __init__(
        self,
        command: Command,
        console: Console,
        debuggee: Debuggee,
        ask_client: AskClient,
        log: WireLog | None,
    ) -> None:
        self._command = command
        self._debuggee = debuggee
        self._lock = threading.Lock()
        self._child: int | None = None
        self._launcher: Connection | None = None
        self._over = False
        self._rendezvous = Rendezvous(
            {"fxdapHello": self._arrived, "fxdapLauncher": self._reported}, log
        )
        self._timer = threading.Timer(_PATIENCE_S, self._give_up)
        self._timer.daemon = True
        self._timer.start()
        debuggee.take_origin(self)
        ask_client("runInTerminal", self._request(console), self._answered)

    def kill(self) -> None:
        """Kill the debuggee and its group; the launcher does so too once it is let go."""
        self._rendezvous.close()
        with self._lock:
            if self._child is not None:
                kill_group(self._child)
            launcher = self._launcher
        if launcher is not None:
            launcher.finish_sending()
        else:
            self._end(_UNKNOWN_EXIT, "the launch was cancelled")

    def drain(self) -> None:
        """The terminal shows the output; there is nothing to pass on."""

    def _request(self, console: Console) -> RunInTerminalRequestArguments:
        command, address = self._command, self._rendezvous.address
        return RunInTerminalRequestArguments(
            kind="external" if console == "externalTerminal" else "integrated",
            title="fxdap",
            cwd=command.cwd,
            args=[sys.executable, "-I", _LAUNCHER, address, *command.debuggee(address)],
            env=command.variables(self._rendezvous.token),
        )

    def _answered(self, response: Response | None) -> None:
        if response is not None and not response.success:
            self._end(_UNKNOWN_EXIT, f"no terminal: {response.message or 'the client refused'}")

    def _give_up(self) -> None:
        if self._launcher is None:
            self._rendezvous.close()
            reason = f"nothing started in the terminal within {_PATIENCE_S:.0f} s"
            self._end(_UNKNOWN_EXIT, reason)

    def _arrived(self, connection: Connection, hello: Hello) -> None:
        self._rendezvous.close()
        self._debuggee.serve(connection)

    def _reported(self, connection: Connection, hello: Hello) -> None:
        with self._lock:
            if self._over:
                connection.close()
                return
            self._launcher = connection
        self._timer.cancel()
        exit = self._read_reports(connection)
        with self._lock:
            # Without a report of the end the launcher was killed: its child must not stay.
            if self._child is not None and exit is None:
                kill_group(self._child)
            self._child = None
        connection.close()
        exit = exit or _UNKNOWN_EXIT
        self._end(exit, launch_failure(exit, self._command.python, ""))

    def _read_reports(self, connection: Connection) -> Exit | None:
        while (message := connection.read()) is not None:
            if not isinstance(message, Event):
                continue
            try:
                if message.event == "fxdapExited":
                    return Exit.of(decode_body(_Exited, message.body).returncode)
                with self._lock:
                    self._child = decode_body(_Started, message.body).pid
            except DecodeError:
                return None
        return None

    def _end(self, exit: Exit, never_ready: str) -> None:
        with self._lock:
            if self._over:
                return
            self._over = True
        self._timer.cancel()
        self._debuggee.wait_lost(_LAST_MESSAGES_S)
        self._debuggee.end(exit, never_ready)
