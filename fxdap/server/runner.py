"""Running the user's program on the main thread of a launched debuggee."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fxdap.engine.thread import Abandoned
from fxdap.graphs.errors import TargetError
from fxdap.graphs.target import Target, load_target
from fxdap.server.failure import user_traceback
from fxdap.server.handlers.lifecycle import apply_options
from fxdap.server.main_module import run_module, run_script
from fxdap.view.summary import summarize
from fxdap.wire.configuration import LaunchConfiguration, parse_launch
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError

if TYPE_CHECKING:
    from fxdap.server.session import Session

NO_GRAPH = (
    "No graph was run. Calls of a GraphModule and runs of an Interpreter stop here; with "
    "'compile': 'dynamo' the graphs of torch.compile do too, and 'graph': 'file.py:Model' captures "
    "a model without a script."
)
"""Told at the end of a script that had nothing to stop in."""

CONFIGURATION_DEADLINE = 1.0
"""Seconds after `initialized` at which launch is answered even without configurationDone."""


class Runner:
    """Loads, waits for breakpoints, runs. Everything of the user's happens on this thread."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def main(self) -> int:
        """Serve launch requests until one can run; return the process's exit code."""
        code = 0
        try:
            code = self._serve()
            self._session.termination.program_ended()
        except KeyboardInterrupt:  # told to end before the user's program began, or as it ended
            pass
        return code

    def _serve(self) -> int:
        while True:
            request = self._session.launched.get()
            if request is None:
                return 0
            prepared = self._prepare(request)
            if prepared is not None:
                gc.unfreeze()
                return self._run(request, *prepared)

    def _prepare(self, request: Request) -> tuple[LaunchConfiguration, Target | None] | None:
        """Load what is to be debugged; a mistake is answered and another launch may follow."""
        session = self._session
        try:
            configuration, warnings = parse_launch(request.arguments)
            apply_options(session, configuration, configuration.stop_on_entry)
            target = self._load(configuration) if configuration.graph else None
            self._check_files(configuration)
        except (RequestError, TargetError) as error:
            self._refuse(request, str(error))
            return None
        except KeyboardInterrupt:
            # The user asked for this: an error would only be shown to them.
            session.connection.respond(request)
            session.launched.put(None)
            return None
        except (Exception, SystemExit) as error:
            sys.stderr.write(user_traceback(error))
            text = f"loading {configuration.graph!r} raised {type(error).__name__}: {error}"
            self._refuse(request, text)
            return None
        for warning in warnings:
            session.events.say(warning)
        return configuration, target

    def _refuse(self, request: Request, reason: str) -> None:
        self._session.launching = False
        self._session.connection.fail(request, RequestError(reason, show_user=True))

    def _load(self, configuration: LaunchConfiguration) -> Target:
        assert configuration.graph is not None
        self._session.runs.watch_tracing()
        with self._session.progress.show(f"Capturing {configuration.graph}"):
            target = load_target(configuration.graph, configuration.inputs, configuration.capture)
        target.require_inputs()
        self._session.events.say(
            f"{target.name}: {sum(len(graph.graph.nodes) for graph in target.graphs.values())} "
            f"nodes, captured by {target.how}"
        )
        return target

    def _check_files(self, configuration: LaunchConfiguration) -> None:
        program = configuration.program
        if program is not None and not os.path.isfile(program):
            raise TargetError("program", program, "no such file", f"Paths start at {os.getcwd()}")

    def _run(
        self, request: Request, configuration: LaunchConfiguration, target: Target | None
    ) -> int:
        session = self._session
        session.debugger.options.script = _script_name(configuration)
        if not configuration.no_debug:
            session.runs.install()
            session.runs.watch_tracing()
            if configuration.compile != "off":
                session.runs.substitute_compile(configuration.compile)
            for name, graph in target.graphs.items() if target is not None else ():
                session.runs.program(graph, name)
        session.ready = True
        session.connection.send_event("initialized")
        session.configured.wait(CONFIGURATION_DEADLINE)
        session.connection.respond(request)
        session.configured.wait()
        if configuration.python_options.debug and not configuration.no_debug:
            session.python.client.await_client()
        return self._guarded(lambda: self._start(configuration, target))

    def _start(self, configuration: LaunchConfiguration, target: Target | None) -> None:
        if target is not None:
            result = target.run()
            self._session.events.say(f"{target.name} returned {summarize(result)}")
            return
        try:
            if configuration.program is not None:
                run_script(configuration.program, configuration.arguments)
            elif configuration.module is not None:
                run_module(configuration.module, configuration.arguments)
        except SystemExit:
            self._tell_if_no_graph_ran(configuration)
            raise
        self._tell_if_no_graph_ran(configuration)

    def _tell_if_no_graph_ran(self, configuration: LaunchConfiguration) -> None:
        if not configuration.no_debug and not self._session.debugger.programs():
            self._session.events.say(NO_GRAPH)

    def _guarded(self, start: Any) -> int:
        """Run the user's code; return what its process would exit with."""
        try:
            start()
        except SystemExit as error:
            return _exit_code(error)
        except Abandoned:
            return 0
        except BaseException as error:
            self._session.died(error)
            sys.stderr.write(user_traceback(error))
            diagnosis = self._session.diagnoses.at_end(error)
            if diagnosis is not None:
                self._session.events.say(str(diagnosis), "important")
            return 130 if isinstance(error, KeyboardInterrupt) else 1
        return 0


def _script_name(configuration: LaunchConfiguration) -> str:
    if configuration.program is not None:
        return Path(configuration.program).stem
    return (configuration.module or "").rpartition(".")[2]


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
