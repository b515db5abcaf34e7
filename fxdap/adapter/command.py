"""The command that starts a debuggee: checked against the file system before anything runs."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from fxdap.wire.configuration import LaunchConfiguration, wrong_value

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*", re.DOTALL)


class Command(NamedTuple):
    """How to start a debuggee; `changes` are variables unlike our own (None: unset)."""

    python: tuple[str, ...]
    cwd: str
    changes: dict[str, str | None]

    def debuggee(self, address: str) -> list[str]:
        """The arguments that start the debugger's server, to call `address`."""
        return [*self.python, "-m", "fxdap.server", "--connect", address]

    def variables(self, token: str) -> dict[str, str | None]:
        """The variables that a process started in our place needs on top of its own."""
        return {**self.changes, "PYTHONUNBUFFERED": "1", "FXDAP_TOKEN": token}

    def environment(self, token: str) -> dict[str, str]:
        """The whole environment of a process whose output goes through pipes."""
        defaults = {} if "PYTHONUTF8" in os.environ else {"PYTHONIOENCODING": "utf-8"}
        merged = {**defaults, **os.environ, **self.variables(token)}
        return {name: value for name, value in merged.items() if value is not None}


def build_command(configuration: LaunchConfiguration) -> Command:
    """Raises ConfigurationError for files and folders that are not there."""
    cwd = _folder(configuration)
    changes = _variables(configuration, cwd)
    path = changes.get("PATH", os.environ.get("PATH"))
    python = _interpreter(configuration, cwd, path)
    _check_files(configuration, cwd)
    return Command(python, str(cwd), changes)


def _folder(configuration: LaunchConfiguration) -> Path:
    given = configuration.cwd or configuration.workspace or os.getcwd()
    folder = Path(given).expanduser().absolute()
    if not folder.is_dir():
        key = "cwd" if configuration.cwd else "workspace"
        raise wrong_value(key, given, "no such folder")
    return folder


def _variables(configuration: LaunchConfiguration, cwd: Path) -> dict[str, str | None]:
    changes: dict[str, str | None] = {}
    if configuration.env_file:
        changes.update(_read_env_file(configuration.env_file, cwd))
    changes.update(configuration.env)
    for name, value in changes.items():
        if not name or "=" in name or "\0" in name or "\0" in (value or ""):
            raise wrong_value("env", {name: value}, "no environment variable")
    return changes


def _read_env_file(given: str, cwd: Path) -> dict[str, str]:
    try:
        text = _located(given, cwd).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise wrong_value("envFile", given, "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_value("envFile", given, f"cannot be read ({error})") from None
    variables = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if not match:
            raise wrong_value("envFile", given, f"line {number} is not NAME=value")
        variables[match[1]] = _unquoted(match[2])
    return variables


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value.split(" #", 1)[0].rstrip()


def _interpreter(
    configuration: LaunchConfiguration, cwd: Path, path: str | None
) -> tuple[str, ...]:
    given = configuration.interpreter or sys.executable
    words: tuple[str, ...] = (given,) if isinstance(given, str) else given
    if not "".join(words[:1]):
        raise wrong_value("python", list(words), "empty")
    name = os.path.expanduser(words[0])
    if os.path.dirname(name):
        found = str(_located(name, cwd))
        if not os.path.isfile(found):
            raise wrong_value("python", words[0], "no such file")
        if not os.access(found, os.X_OK):
            raise wrong_value("python", words[0], "not executable")
    else:
        found = shutil.which(name, path=path) or ""
        if not found:
            raise wrong_value("python", words[0], "not found on PATH")
    return (found, *words[1:])


def _check_files(configuration: LaunchConfiguration, cwd: Path) -> None:
    if configuration.program and not (cwd / configuration.program).is_file():
        raise wrong_value("program", configuration.program, f"no such file (from {cwd})")
    for key, given in (("graph", configuration.graph), ("inputs", configuration.inputs)):
        file = _file_of(given)
        if file and not (cwd / file).is_file():
            raise wrong_value(key, given, f"no such file (from {cwd})")


def _file_of(target: str | None) -> str | None:
    """The file a graph target names; None for a module."""
    if not target:
        return None
    if target.endswith((".py", ".pt2")):
        return target
    file, colon, _ = target.rpartition(":")
    return file if colon and file.endswith((".py", ".pt2")) else None


def _located(given: str, cwd: Path) -> Path:
    return cwd / Path(given).expanduser()
