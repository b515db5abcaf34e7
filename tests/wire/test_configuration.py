from typing import Any

import msgspec
import pytest
from msgspec import Raw

from fxdap.wire.configuration import (
    Address,
    AttachConfiguration,
    ConfigurationError,
    LaunchConfiguration,
    parse_attach,
    parse_launch,
)


def raw(values: Any) -> Raw:
    return Raw(msgspec.json.encode(values))


def launch(**values: Any) -> LaunchConfiguration:
    return parse_launch(raw({"program": "a.py", **values}))[0]


def test_every_launch_key_is_understood() -> None:
    configuration, warnings = parse_launch(
        raw(
            {
                "program": "a.py",
                "args": ["-v"],
                "compile": "aot",
                "stopOnEntry": False,
                "nodeBreakpoints": ["relu_1"],
                "justMyCode": False,
                "timeTravel": False,
                "keepValues": "needed",
                "memoryBudget": "2GB",
                "python": ["python3", "-X", "dev"],
                "cwd": "/",
                "env": {"A": "1", "B": None},
                "envFile": ".env",
                "console": "integratedTerminal",
                "workspace": "/w",
                "logToFile": "/l",
                "noDebug": True,
            }
        )
    )
    assert warnings == []
    assert configuration == LaunchConfiguration(
        program="a.py",
        args=("-v",),
        compile="aot",
        stop_on_entry=False,
        node_breakpoints=("relu_1",),
        just_my_code=False,
        time_travel=False,
        keep_values="needed",
        memory_budget="2GB",
        python=("python3", "-X", "dev"),
        cwd="/",
        env={"A": "1", "B": None},
        env_file=".env",
        console="integratedTerminal",
        workspace="/w",
        log_to_file="/l",
        no_debug=True,
    )


def test_python_is_an_interpreter_or_an_object_about_python() -> None:
    plain = parse_launch(raw({"graph": "m.py:M", "python": "python3"}))[0]
    assert (plain.interpreter, plain.python_options.debug) == ("python3", False)
    options = {"path": ["python3", "-X", "dev"], "debug": True, "justMyCode": False}
    full = parse_launch(raw({"graph": "m.py:M", "python": options}))[0]
    assert full.interpreter == ("python3", "-X", "dev")
    assert (full.python_options.debug, full.python_options.just_my_code) == (True, False)
    assert parse_attach(raw({"python": {"debug": True}}))[0].interpreter is None


def test_defaults_are_those_of_the_documentation() -> None:
    configuration = parse_launch(raw({"graph": "m.py:M"}))[0]
    assert configuration.capture == "auto"
    assert configuration.stop_on_entry is True
    assert configuration.just_my_code is True
    assert configuration.console == "internalConsole"
    assert parse_attach(raw({"connect": {"port": 5}}))[0].stop_on_entry is False


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"stopOnEntry": "yes"}, "'stopOnEntry' is \"yes\": expected bool, got str; give true or"),
        ({"console": "x"}, "'console' is \"x\": invalid enum value 'x'; give one of internalCon"),
        ({"args": ["a", 1]}, "'args' is [\"a\", 1]: expected str, got int; give a list of strings"),
        ({"args": 'a "b'}, '\'args\' is "a \\"b": no closing quotation; give a list of strings'),
        ({"env": {"A": 1}}, "'env' is {\"A\": 1}: expected str | null, got int; give an object"),
        ({"nodeBreakpoints": "a"}, "'nodeBreakpoints' is \"a\": expected array, got str; give a"),
        ({"memoryBudget": "lots"}, "'memoryBudget' is \"lots\": no amount of memory; give a share"),
        ({"memoryBudget": "120%"}, "'memoryBudget' is \"120%\": no amount of memory; give a share"),
        ({"memoryBudget": -1}, "'memoryBudget' is -1: no amount of memory; give a share"),
        ({"python": 3}, "'python' is 3: expected str | object | array | null, got int; give the p"),
        ({"python": {"debugs": 1}}, "'python' is {\"debugs\": 1}: object contains unknown field"),
        ({"keepValues": "none"}, "'keepValues' is \"none\": invalid enum value 'none'; give `all`"),
    ],
)
def test_a_wrong_value_names_the_key_the_value_and_the_remedy(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        launch(**values)
    assert caught.value.message.startswith(message)
    assert caught.value.show_user is True


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "nothing to debug; name a script in 'program'"),
        ({"program": ""}, "'program' is \"\": empty; give the path of a Python script"),
        ({"program": "a", "graph": "b"}, "'program' and 'graph' exclude each other; name"),
        (
            {"progam": "a.py"},
            "nothing to debug; launch configuration: unknown key 'progam' is ignored; "
            "did you mean 'program'?; name a script",
        ),
        ([], "invalid arguments for request 'launch': Expected `object`, got `array`"),
    ],
)
def test_there_must_be_one_thing_to_debug(values: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_launch(raw(values))
    assert caught.value.message.startswith(message)


def test_an_unknown_key_is_a_warning_with_the_nearest_known_one() -> None:
    _, warnings = parse_launch(raw({"program": "a.py", "stoponentry": True, "zzz": 1}))
    assert warnings == [
        "launch configuration: unknown key 'stoponentry' is ignored; did you mean 'stopOnEntry'?",
        "launch configuration: unknown key 'zzz' is ignored",
    ]


def test_the_editors_own_keys_are_no_surprise() -> None:
    values = {
        "type": "fxdap",
        "name": "n",
        "request": "launch",
        "preLaunchTask": "t",
        "presentation": {},
        "__sessionId": "s",
        "program": "a.py",
    }
    assert parse_launch(raw(values))[1] == []


def test_keys_of_another_kind_of_target_are_a_warning() -> None:
    _, warnings = parse_launch(raw({"graph": "m.py:M", "args": ["x"]}))
    assert warnings == [
        "launch configuration: 'args' is ignored, it belongs to 'program' and 'module'"
    ]


def test_args_may_be_one_string() -> None:
    assert launch(args="-a 'b c'").arguments == ("-a", "b c")
    assert launch(args=["-a", "b c"]).arguments == ("-a", "b c")


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (None, 250),
        ("10%", 100),
        ("0.5 KB", 500),
        ("2KiB", 2048),
        ("2GB", 2_000_000_000),
        (17, 17),
        ("17", 17),
        (0, 0),
    ],
)
def test_a_memory_budget_is_a_share_a_size_or_bytes(budget: Any, limit: int) -> None:
    assert launch(memoryBudget=budget).memory_limit(1000) == limit


def test_keeping_what_is_needed_is_a_budget_of_nothing() -> None:
    assert launch(keepValues="needed", memoryBudget="50%").memory_limit(1000) == 0


def test_attach_says_where_to_connect() -> None:
    configuration, warnings = parse_attach(raw({"connect": {"port": 5679}, "token": "t"}))
    assert configuration == AttachConfiguration(connect=Address(port=5679), token="t")
    assert configuration.connect == Address(port=5679, host="127.0.0.1")
    assert warnings == []


@pytest.mark.parametrize(
    ("connect", "reason"),
    [
        ({}, "object missing required field port"),
        ({"port": "5"}, "expected int, got str"),
        ({"port": 99999}, "no port number"),
        (5679, "expected object | null, got int"),
    ],
)
def test_a_wrong_address_is_explained(connect: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=r"give .*fxdap\.listen") as caught:
        parse_attach(raw({"connect": connect}))
    assert reason in caught.value.message
