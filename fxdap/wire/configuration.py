"""The launch and attach configurations: what a user writes into launch.json, checked."""

import re
from typing import Literal, TypeVar

from msgspec import DecodeError, Raw, Struct, ValidationError, convert, field
from msgspec.json import decode
from msgspec.structs import fields

from fxdap.wire.errors import RequestError

DEFAULT_SHARE = 0.25
"""Part of the free memory that kept values may take unless `memoryBudget` says otherwise."""

Capture = Literal["auto", "symbolic_trace", "export", "dynamo", "aot"]
Compile = Literal["off", "dynamo", "aot"]
Console = Literal["internalConsole", "integratedTerminal", "externalTerminal"]

_Configuration = TypeVar("_Configuration", bound="DebugOptions")

_CLIENT_KEYS = {
    "type",
    "name",
    "request",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
    "presentation",
    "serverReadyAction",
    "suppressMultipleSessionWarning",
    "debugServer",
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(%|[KMGT]?i?B?)\s*", re.IGNORECASE)
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

_TARGET_REMEDY = "name a script in 'program', a module in 'module', or a graph in 'graph'"
_REMEDIES = {
    "program": "give the path of a Python script",
    "module": "give a module name as for `python -m`",
    "graph": "give `file.py:attr`, `package.module:attr` or `model.pt2`",
    "inputs": "give `file.py:attr` or `package.module:attr` of a value or factory",
    "args": "give a list of strings",
    "capture": "give one of auto, symbolic_trace, export, dynamo, aot",
    "compile": "give one of off, dynamo, aot",
    "stopOnEntry": "give true or false",
    "nodeBreakpoints": 'give a list of node selectors, such as ["relu_1", "target:aten.add"]',
    "justMyCode": "give true or false",
    "verifyInterpreter": "give true or false",
    "timeTravel": "give true or false",
    "keepValues": "give `all`, or `needed` to keep only what a later node reads",
    "memoryBudget": 'give a share such as "25%", a size such as "2GB", or bytes',
    "python": 'give the path of a Python interpreter, or {"debug": true, "justMyCode": true}',
    "cwd": "give the path of a folder",
    "env": 'give an object of strings, such as {"OMP_NUM_THREADS": "1"}; null removes a variable',
    "envFile": "give the path of a file of NAME=value lines",
    "console": "give one of internalConsole, integratedTerminal, externalTerminal",
    "connect": 'give {"host": "127.0.0.1", "port": PORT} as fxdap.listen printed it',
    "token": "give the token that fxdap.listen printed",
    "workspace": "give the path of a folder",
    "logToFile": "give a folder, or true or false",
    "noDebug": "give true or false",
}


class ConfigurationError(RequestError):
    """A configuration that cannot be used; names the key, the value and the remedy."""


class PythonOptions(
    Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """`python` as an object: the interpreter, and how far Python itself is debugged."""

    path: str | tuple[str, ...] | None = None
    debug: bool = False
    """Whether the Python debugger is there from the start, not only once a step enters Python."""
    just_my_code: bool = True


class DebugOptions(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What launch and attach have in common."""

    node_breakpoints: tuple[str, ...] = ()
    just_my_code: bool = True
    verify_interpreter: bool = False
    time_travel: bool = True
    keep_values: Literal["all", "needed"] = "all"
    memory_budget: int | float | str | None = None
    workspace: str | None = None
    log_to_file: bool | str = False
    no_debug: bool = False
    python: str | tuple[str, ...] | PythonOptions | None = None

    @property
    def interpreter(self) -> str | tuple[str, ...] | None:
        """The Python interpreter that is to run the program."""
        return self.python.path if isinstance(self.python, PythonOptions) else self.python

    @property
    def python_options(self) -> PythonOptions:
        """How far Python itself is debugged."""
        return self.python if isinstance(self.python, PythonOptions) else PythonOptions()

    def memory_limit(self, free: int) -> int:
        """Bytes that kept values may take, of a memory with `free` bytes free."""
        if self.keep_values == "needed":
            return 0
        if self.memory_budget is None:
            return int(free * DEFAULT_SHARE)
        return _bytes(self.memory_budget, free) or 0


class LaunchConfiguration(DebugOptions, frozen=True, kw_only=True):
    """Start a process and debug its graphs: exactly one of program, module, graph is given."""

    program: str | None = None
    module: str | None = None
    graph: str | None = None
    args: str | tuple[str, ...] = ()
    inputs: str | None = None
    capture: Capture = "auto"
    compile: Compile = "off"
    stop_on_entry: bool = True
    cwd: str | None = None
    env: dict[str, str | None] = field(default_factory=dict)
    env_file: str | None = None
    console: Console = "internalConsole"

    @property
    def arguments(self) -> tuple[str, ...]:
        """`args` as a list, one string split like a shell does."""
        if not isinstance(self.args, str):
            return self.args
        import shlex

        return tuple(shlex.split(self.args))


class Address(Struct, frozen=True, kw_only=True):
    """Where a process listens."""

    port: int
    host: str = "127.0.0.1"


class AttachConfiguration(DebugOptions, frozen=True, kw_only=True):
    """Debug a process that called `fxdap.listen`."""

    connect: Address | None = None
    token: str | None = None
    stop_on_entry: bool = False


def parse_launch(raw: Raw) -> tuple[LaunchConfiguration, list[str]]:
    """The arguments of a launch request, and warnings for the user."""
    configuration, warnings = _parse(raw, LaunchConfiguration, "launch")
    _check_target(configuration, warnings)
    _check_args(configuration)
    return configuration, warnings + _idle_keys(configuration)


def parse_attach(raw: Raw) -> tuple[AttachConfiguration, list[str]]:
    """The arguments of an attach request, and warnings for the user."""
    configuration, warnings = _parse(raw, AttachConfiguration, "attach")
    address = configuration.connect
    if address is not None and not 0 < address.port < 65536:
        raise wrong_value("connect", {"port": address.port}, "no port number")
    return configuration, warnings


def wrong_value(key: str, value: object, reason: str) -> ConfigurationError:
    """The error for a value that cannot be used, with the remedy."""
    return ConfigurationError(
        f"{key!r} is {_shown(value)}: {reason}; {_REMEDIES[key]}",
        show_user=True,
    )


def _parse(raw: Raw, kind: type[_Configuration], request: str) -> tuple[_Configuration, list[str]]:
    values = {key: value for key, value in _object(raw, request).items() if value is not None}
    known = {each.encode_name for each in fields(kind)}
    unknown = [key for key in values if key not in known and not _is_clients(key)]
    try:
        configuration = convert(values, kind)
    except ValidationError as error:
        raise _invalid(str(error), values) from None
    if _bytes(configuration.memory_budget, 0) is None:
        raise wrong_value("memoryBudget", configuration.memory_budget, "no amount of memory")
    return configuration, [_unknown_key(key, known, request) for key in unknown]


def _object(raw: Raw, request: str) -> dict[str, object]:
    text: bytes | memoryview = memoryview(raw)
    try:
        return decode(text or b"{}", type=dict[str, object])
    except (DecodeError, RecursionError) as error:
        raise ConfigurationError(f"invalid arguments for request {request!r}: {error}") from None


def _invalid(error: str, values: dict[str, object]) -> ConfigurationError:
    reason, _, path = error.partition(" - at `$.")
    key = re.split(r"[.\[`]", path)[0]
    return wrong_value(key, values.get(key), reason[:1].lower() + reason[1:].replace("`", ""))


def _is_clients(key: str) -> bool:
    return key in _CLIENT_KEYS or key.startswith("__")


def _unknown_key(key: str, known: set[str], request: str) -> str:
    import difflib

    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(key.lower(), by_lower, n=1, cutoff=0.5)
    hint = f"; did you mean {by_lower[near[0]]!r}?" if near else ""
    return f"{request} configuration: unknown key {key!r} is ignored{hint}"


def _check_target(configuration: LaunchConfiguration, warnings: list[str]) -> None:
    targets = {
        "program": configuration.program,
        "module": configuration.module,
        "graph": configuration.graph,
    }
    given = [key for key, value in targets.items() if value]
    if len(given) == 1:
        return
    for key, value in targets.items():
        if value is not None and not value.strip():
            raise wrong_value(key, value, "empty")
    if given:
        problem = " and ".join(map(repr, given)) + " exclude each other"
    else:
        problem = "; ".join(["nothing to debug", *warnings])
    raise ConfigurationError(f"{problem}; {_TARGET_REMEDY}", show_user=True)


def _check_args(configuration: LaunchConfiguration) -> None:
    try:
        _ = configuration.arguments
    except ValueError as error:
        raise wrong_value("args", configuration.args, str(error).lower()) from None


def _idle_keys(configuration: LaunchConfiguration) -> list[str]:
    """Warnings for keys that say nothing for this kind of target."""
    if configuration.graph:
        idle: dict[str, object] = {
            "args": configuration.args,
            "compile": configuration.compile != "off",
        }
        other = "'program' and 'module'"
    else:
        idle = {"inputs": configuration.inputs, "capture": configuration.capture != "auto"}
        other = "'graph'"
    return [
        f"launch configuration: {key!r} is ignored, it belongs to {other}"
        for key, value in idle.items()
        if value
    ]


def _bytes(budget: int | float | str | None, free: int) -> int | None:
    """The bytes a `memoryBudget` means; None if it means nothing."""
    if budget is None:
        return 0
    if not isinstance(budget, str):
        return int(budget) if budget >= 0 else None
    match = _SIZE.fullmatch(budget)
    if not match:
        return None
    number, unit = float(match[1]), match[2].lower()
    if unit == "%":
        return int(free * number / 100) if number <= 100 else None
    scale = 1024 if "i" in unit else 1000
    return int(number * scale ** _UNITS[unit.rstrip("b").rstrip("i")])


def _shown(value: object) -> str:
    import json

    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
