"""How a session's debuggee is left: by `disconnect`, or by `terminate`."""

import threading
from collections.abc import Callable

from fxdap.adapter.client import Client
from fxdap.adapter.debuggee import Debuggee
from fxdap.wire.envelope import Request, Response
from fxdap.wire.messages import DisconnectArguments

_ANSWER_S = 0.06  # for the debuggee to take leave, before the client is answered without it
_STUCK_S = 2.0  # for the debuggee to answer `terminate`, before it counts as stuck
_CLEANUP_S = 10.0  # for the program to end after it was asked to, before it is killed
_DEATH_S = 1.0  # for a killed process to be gone
_GOODBYE_S = 0.5  # for the client to close the connection, before the adapter does


class Farewell:
    """Leaving the debuggee, on a thread of its own: a client may say `disconnect` again meanwhile.

    `disconnect` is answered at once, whatever the debuggee does. `then` is called when the process
    is gone, or has been let go.
    """

    def __init__(
        self,
        client: Client,
        debuggee: Debuggee,
        request: Request,
        wish: DisconnectArguments,
        then: Callable[[], None],
    ) -> None:
        self._client = client
        self._debuggee = debuggee
        self._wish = wish
        self._then = then
        self._lock = threading.Lock()
        self._asked: list[Request] = [request]
        self._answered = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="farewell", daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> None:
        """Another `disconnect` came."""
        with self._lock:
            if self._answered:
                self._client.respond(request)
            else:
                self._asked.append(request)

    def client_left(self) -> None:
        """The client has closed the connection: wait until the debuggee is left."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        self._tell_debuggee()
        self._debuggee.abandon("the session is disconnected")
        with self._lock:
            self._answered = True
            for request in self._asked:
                self._client.respond(request)
        self._see_to_the_end()
        self._closed.wait(_GOODBYE_S)
        with self._lock:
            self._client.connection.finish_sending()
        self._then()

    def _tell_debuggee(self) -> None:
        if self._debuggee.ready:
            told = threading.Event()
            self._debuggee.ask("disconnect", self._wish, lambda _: told.set())
            told.wait(_ANSWER_S)

    def _see_to_the_end(self) -> None:
        debuggee = self._debuggee
        if debuggee.owned and not self._wish.terminate_debuggee and debuggee.ready:
            debuggee.finished.wait()  # somebody must go on reading what it prints
            return
        debuggee.kill()
        debuggee.finished.wait(_DEATH_S)


def ask_to_end(client: Client, debuggee: Debuggee, request: Request) -> None:
    """Pass `terminate` on, so that the program can clean up; one that does not end is killed."""

    def stuck() -> None:
        client.say("the process does not react, so it is killed")
        debuggee.kill()

    def endless() -> None:
        if not debuggee.finished.is_set():
            client.say(f"the program still runs {_CLEANUP_S:.0f} s after it was asked to end")
            debuggee.kill()

    def answered(answer: Response | None) -> None:
        watchdog.cancel()
        if debuggee.owned:
            _after(_CLEANUP_S, endless)
        if answer is None:
            client.respond(request)
        else:
            client.forward(answer, request_seq=request.seq)

    watchdog = _after(_STUCK_S, stuck) if debuggee.owned else threading.Timer(0, stuck)
    debuggee.ask("terminate", request.arguments, answered)


def _after(seconds: float, action: Callable[[], None]) -> threading.Timer:
    """Do something later, unless this process ends before."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer
