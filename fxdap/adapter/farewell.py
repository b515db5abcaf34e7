"""How a session's debuggee is left: by `disconnect`, or by `terminate`."""

import threading

from fxdap.adapter.client import Client
from fxdap.adapter.debuggee import Debuggee
from fxdap.wire.envelope import Request, Response
from fxdap.wire.messages import DisconnectArguments

_ANSWER_S = 0.06  # for the debuggee to take leave, before the client is answered without it
_STUCK_S = 2.0  # for the debuggee to answer `terminate`, before it counts as stuck
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
    """Pass `terminate` on, so that the program can clean up; one that is stuck is killed."""

    def stuck() -> None:
        client.say("the process does not react, so it is killed")
        debuggee.kill()

    def answered(answer: Response | None) -> None:
        watchdog.cancel()
        if answer is None:
            client.respond(request)
        else:
            client.forward(answer, request_seq=request.seq)

    watchdog = threading.Timer(_STUCK_S, stuck)
    watchdog.daemon = True
    if debuggee.owned:
        watchdog.start()
    debuggee.ask("terminate", request.arguments, answered)
