from msgspec import Raw

from fxdap.adapter.replay import ReplayLog
from fxdap.wire.envelope import Request, Response
from fxdap.wire.messages import Breakpoint


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


def test_breakpoints_are_replayed_at_the_lines_that_the_client_was_told_last() -> None:
    log = ReplayLog()
    arguments = b'{"source":{"path":"a.fxgraph"},"breakpoints":[{"line":5},{"line":9}]}'
    request = Request(seq=1, command="setBreakpoints", arguments=Raw(arguments))
    log.note(request)
    body = b'{"breakpoints":[{"id":1,"verified":true,"line":6},{"id":2,"verified":false}]}'
    log.answered(
        request,
        Response(seq=1, request_seq=1, success=True, command="setBreakpoints", body=Raw(body)),
    )
    expected = b'{"source":{"path":"a.fxgraph"},"breakpoints":[{"line":%d},{"line":%d}]}'
    assert [bytes(raw) for _, raw in log] == [expected % (6, 9)]
    log.changed(Breakpoint(id=2, verified=True, line=12))
    assert [bytes(raw) for _, raw in log] == [expected % (6, 12)]
    log.note(request)
    assert [bytes(raw) for _, raw in log] == [arguments]
