"""A debuggee without a terminal: its output comes to the client through pipes."""

import threading
from queue import SimpleQueue

from fxdap.adapter.command import Command
from fxdap.adapter.debuggee import Debuggee
from fxdap.adapter.exits import launch_failure
from fxdap.adapter.output import Emit, OutputPump
from fxdap.adapter.process import ChildProcess
from fxdap.adapter.rendezvous import Hello, Rendezvous
from fxdap.wire.connection import Connection
from fxdap.wire.errors import RequestError
from fxdap.wire.log import WireLog

_TAIL = 4096
_LAST_MESSAGES_S = 1.0


class LocalLaunch:
    """Starts the process, and watches it to its end.

    Threads: the *watcher* starts the process and waits for it (it must be one thread: the
    process asks the system to end it when the thread that started it does). After the end it
    passes on everything that was sent and printed, and only then tells the debuggee.
    """

    owned = True

    def __init__(
        self, command: Command, debuggee: Debuggee, emit: Emit, log: WireLog | None
    ) -> None:
        self._command = command
        self._debuggee = debuggee
        self._emit = emit
        self._stderr = ""
        self._rendezvous = Rendezvous({"fxdapHello": self._arrived}, log)
        started: SimpleQueue[OSError | None] = SimpleQueue()
        threading.Thread(target=self._watch, args=(started,), name="watcher", daemon=True).start()
        if error := started.get():
            self._rendezvous.close()
            raise RequestError(f"cannot start {command.python[0]}: {error}", show_user=True)

    def kill(self) -> None:
        """Kill the process and all of its group."""
        self._process.kill()

    def drain(self) -> None:
        """Pass on what the process has printed so far."""
        self._pump.drain()

    def _arrived(self, connection: Connection, hello: Hello) -> None:
        self._rendezvous.close()
        self._debuggee.serve(connection)

    def _printed(self, category: str, text: str) -> None:
        if category == "stderr":
            self._stderr = (self._stderr + text)[-_TAIL:]
        self._emit(category, text)

    def _watch(self, started: "SimpleQueue[OSError | None]") -> None:
        try:
            self._start()
        except OSError as error:
            started.put(error)
            return
        started.put(None)
        exit = self._process.wait()
        self._rendezvous.close()
        self._debuggee.wait_lost(_LAST_MESSAGES_S)
        self._pump.finish()
        self._debuggee.end(exit, launch_failure(exit, self._command.python, self._stderr))

    def _start(self) -> None:
        self._process = ChildProcess(
            self._command.debuggee(self._rendezvous.address),
            self._command.cwd,
            self._command.environment(self._rendezvous.token),
        )
        self._debuggee.pid = self._process.pid
        self._pump = OutputPump(self._process.take_pipes(), self._printed)
        self._debuggee.take_origin(self)
