"""From the arguments of launch, restart and attach to a debuggee that comes up.

Everything that only a starting debuggee needs is imported here, so that `initialize` is fast.
"""

import os
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from fxdap.adapter.attach import Attachment
from fxdap.adapter.client import Client
from fxdap.adapter.command import Command, build_command
from fxdap.adapter.debuggee import Debuggee
from fxdap.adapter.local import LocalLaunch
from fxdap.adapter.output import Emit
from fxdap.adapter.terminal import TerminalLaunch
from fxdap.wire.configuration import (
    Address,
    LaunchConfiguration,
    parse_attach,
    parse_launch,
    wrong_value,
)
from fxdap.wire.log import WireLog


class LaunchPlan(NamedTuple):
    """A checked launch: nothing has been started yet, and nothing is wrong with it."""

    configuration: LaunchConfiguration
    command: Command
    log_folder: str | None


def plan_launch(raw: Raw) -> LaunchPlan:
    """Check a launch request's arguments; raises ConfigurationError."""
    configuration, _ = parse_launch(raw)  # the debuggee shows the warnings
    command = build_command(configuration)
    folder = _log_folder(configuration.log_to_file, command.cwd)
    if folder:
        command = command._replace(changes={**command.changes, "FXDAP_LOG": folder})
    return LaunchPlan(configuration, command, folder)


def start_launch(
    plan: LaunchPlan, debuggee: Debuggee, client: Client, emit: Emit, in_terminal: bool
) -> None:
    """Start the process; raises RequestError if it cannot be started."""
    log = client.connection.log
    console = plan.configuration.console
    if console != "internalConsole" and in_terminal:
        TerminalLaunch(plan.command, console, debuggee, client.ask, log)
        return
    if console != "internalConsole":
        client.say(f"this client has no terminal for 'console': {console!r}; output comes here")
    LocalLaunch(plan.command, debuggee, emit, log)


def plan_attach(raw: Raw) -> tuple[Address, str | None]:
    """Check an attach request's arguments: where to connect, and the folder for the log."""
    configuration, _ = parse_attach(raw)
    if configuration.connect is None:
        raise wrong_value("connect", None, "missing")
    return configuration.connect, _log_folder(configuration.log_to_file, os.getcwd())


def start_attach(address: Address, debuggee: Debuggee, client: Client) -> None:
    """Connect to a process that listens."""
    Attachment(address, debuggee, client.connection.log)


def open_log(client: Client, folder: str | None) -> None:
    """Log the wire from now on."""
    if folder and client.connection.log is None:
        try:
            client.connection.log = WireLog(folder, "adapter")
        except OSError as error:
            raise wrong_value("logToFile", folder, str(error)) from None


def _log_folder(value: bool | str, cwd: str) -> str | None:
    if isinstance(value, str):
        return str(Path(cwd) / Path(value).expanduser()) if value else None
    return str(Path(cwd) / ".fxdap" / "log") if value else None
