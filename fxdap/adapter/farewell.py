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


def take_leave(client: Client, debuggee: Debuggee, request: Request, terminate: bool) -> None:
    """Answer `disconnect` at once, whatever the debuggee does, and see to its end.

    Returns when the process is gone, or let go.
    """
    answered = threading.Event()
    if debuggee.ready:
        wish = DisconnectArguments(terminate_debuggee=terminate)
        debuggee.ask("disconnect", wish, lambda _: answered.set())
        answered.wait(_ANSWER_S)
    debuggee.abandon("the session is disconnected")
    client.respond(request)
    client.connection.finish_sending()
    if debuggee.owned and not terminate and debuggee.ready:
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
