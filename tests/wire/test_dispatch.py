import pytest
from msgspec import Raw

from fxdap.wire.dispatch import NoArguments, decode_arguments
from fxdap.wire.envelope import Request
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    ConfigurationDoneArguments,
    SetBreakpointsArguments,
    Source,
    SourceBreakpoint,
)


def request(command: str, arguments: bytes | None = None) -> Request:
    if arguments is None:
        return Request(seq=1, command=command)
    return Request(seq=1, command=command, arguments=Raw(arguments))


def test_arguments_get_the_type_of_their_command() -> None:
    text = b'{"source":{"path":"a.py"},"breakpoints":[{"line":3}],"extra":1}'
    assert decode_arguments(request("setBreakpoints", text)) == SetBreakpointsArguments(
        source=Source(path="a.py"), breakpoints=[SourceBreakpoint(line=3)]
    )


@pytest.mark.parametrize("arguments", [None, b"null", b"{}"])
def test_arguments_that_are_all_optional_may_be_missing(arguments: bytes | None) -> None:
    decoded = decode_arguments(request("configurationDone", arguments))
    assert decoded == ConfigurationDoneArguments()


def test_a_request_without_arguments_may_bring_some() -> None:
    assert decode_arguments(request("threads", b'{"x":1}')) == NoArguments()


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("flyAway", b"{}", "unknown request 'flyAway'"),
        ("setBreakpoints", None, "object missing required field `source` at $"),
        (
            "setBreakpoints",
            b'{"source":{},"breakpoints":7}',
            "expected `array | null`, got `int` at $.breakpoints",
        ),
        (
            "setBreakpoints",
            b'{"source":{},"breakpoints":[{"line":1},{"line":"2"}]}',
            "expected `int`, got `str` at $.breakpoints[1].line",
        ),
        ("stackTrace", b"[]", "expected `object`, got `array` at $"),
        ("variables", b'{"variablesReference":-4}', "expected `int` >= 0 at $.variablesReference"),
        ("evaluate", rb'{"expression":"\ud800"}', "not valid JSON"),
    ],
)
def test_wrong_arguments_are_named_with_their_path(
    command: str, arguments: bytes | None, message: str
) -> None:
    with pytest.raises(RequestError) as caught:
        decode_arguments(request(command, arguments))
    assert message in caught.value.message
    assert command in caught.value.message
