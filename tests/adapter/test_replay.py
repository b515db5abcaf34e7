from msgspec import Raw

from fxdap.adapter.replay import ReplayLog
from fxdap.wire.envelope import Request


def noted(*requests: tuple[str, bytes]) -> list[tuple[str, bytes]]:
    log = ReplayLog()
    for seq, (command, arguments) in enumerate(requests, 1):
        log.note(Request(seq=seq, command=command, arguments=Raw(arguments)))
    return [(command, bytes(arguments)) for command, arguments in log]


def test_the_last_request_of_each_source_and_kind_is_kept() -> None:
    a1 = b'{"source":{"path":"a.py"},"breakpoints":[{"line":1}]}'
    a2 = b'{"source":{"path":"a.py"},"breakpoints":[]}'
    b1 = b'{"source":{"path":"b.py"},"breakpoints":[{"line":9}]}'
    f1, f2 = b'{"breakpoints":[{"name":"relu"}]}', b'{"breakpoints":[]}'
    assert noted(
        ("setBreakpoints", a1),
        ("setFunctionBreakpoints", f1),
        ("setBreakpoints", b1),
        ("setBreakpoints", a2),
        ("setFunctionBreakpoints", f2),
    ) == [("setBreakpoints", a2), ("setFunctionBreakpoints", f2), ("setBreakpoints", b1)]


def test_what_is_malformed_is_not_remembered() -> None:
    assert noted(("setBreakpoints", b'{"source":7}'), ("setBreakpoints", b"[]")) == []
