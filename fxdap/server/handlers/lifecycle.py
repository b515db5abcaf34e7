"""initialize, launch, attach, configurationDone, disconnect, terminate."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from msgspec import Raw, Struct

from fxdap.engine.allocator import join_freed_blocks
from fxdap.engine.retention import Retention
from fxdap.server.registry import When, capabilities, serves
from fxdap.wire.configuration import AttachConfiguration, DebugOptions, parse_attach
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    ConfigurationDoneArguments,
    DisconnectArguments,
    InitializeRequestArguments,
    TerminateArguments,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves("initialize", When.ANYONE)
def initialize(session: Session, arguments: InitializeRequestArguments) -> Struct:
    """Answer with what the registered handlers offer."""
    if session.initialized:
        raise RequestError("initialize was sent before; a session is initialized once")
    session.initialized = True
    session.client = arguments
    session.progress.shown = bool(arguments.supports_progress_reporting)
    return capabilities()


@serves("launch", When.ANYONE, deferred=True)
def launch(session: Session, request: Request) -> None:
    """Hand the request to the main thread, which loads and runs the program and answers."""
    if session.token is not None:
        raise RequestError("launch: this process runs already; attach to it")
    if session.launching:
        raise RequestError("launch: this process is being debugged already")
    session.launching = True
    session.launched.put(request)


@serves("attach", When.ANYONE, deferred=True)
def attach(session: Session, request: Request) -> None:
    """Begin to debug this process; answered when the client has set its breakpoints."""
    if session.ready or session.token is None:
        raise RequestError("attach: this process is being debugged already")
    configuration, warnings = accept_attach(session, request.arguments)
    if not session.claim():
        raise RequestError("attach: another client is attached to this process", show_user=True)
    found_paused = session.take_over()
    apply_options(session, configuration, configuration.stop_on_entry and not found_paused)
    for warning in warnings:
        session.events.say(warning)
    session.begin_attached(request, anew=not found_paused)
    if configuration.python_options.debug:
        session.python.client.begin()


@serves(
    "configurationDone",
    offers=Capabilities(supports_configuration_done_request=True),
)
def configuration_done(session: Session, arguments: ConfigurationDoneArguments) -> None:
    """Breakpoints are set: the program may run."""
    session.requests.after_response(session.configure)


@serves(
    "disconnect",
    When.ANYONE,
    offers=Capabilities(support_terminate_debuggee=True, support_suspend_debuggee=True),
)
def disconnect(session: Session, arguments: DisconnectArguments) -> None:
    """Leave the program running or paused (attach), or end it (launch), as the client asks."""
    launched = session.token is None
    wanted = arguments.terminate_debuggee
    terminate_it = launched if wanted is None else wanted and (launched or session.attached)
    if not terminate_it and arguments.suspend_debuggee and session.attached:
        session.suspend()
    elif not terminate_it:
        session.end()
    session.requests.after_response(lambda: session.leave(terminate_it))


@serves("terminate", When.ALWAYS, offers=Capabilities(supports_terminate_request=True))
def terminate(session: Session, arguments: TerminateArguments) -> None:
    """Unwind the user's runs, else do what Ctrl-C does: `finally` blocks run, the program ends."""
    session.requests.after_response(session.termination.begin)


def accept_attach(session: Session, raw: Raw) -> tuple[AttachConfiguration, list[str]]:
    """Check an attach request's token and options; also what to warn of."""
    configuration, warnings = parse_attach(raw)
    expected = session.token
    given = configuration.token or ""
    if expected is not None and not hmac.compare_digest(given.encode(), expected.encode()):
        raise RequestError(
            "attach: 'token' is not the one that fxdap.listen printed (or FXDAP_TOKEN holds)",
            show_user=True,
        )
    return configuration, warnings


def apply_options(session: Session, options: DebugOptions, stop_on_entry: bool) -> None:
    """Hand the engine the options it heeds."""
    engine = session.debugger
    engine.options.just_my_code = options.just_my_code
    engine.options.verify_interpreter = options.verify_interpreter
    engine.options.time_travel = options.time_travel
    engine.options.keep_values = options.keep_values == "all"
    if engine.options.keep_values:
        join_freed_blocks()
    engine.retention = Retention(options.memory_limit)
    engine.entry_pending = stop_on_entry
    session.workspace = options.workspace
    session.python.client.my_code = options.python_options.just_my_code
    session.node_breakpoints(options.node_breakpoints)
