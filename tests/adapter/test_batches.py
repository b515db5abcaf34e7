"""Log messages on their way to the client: joined where they come too fast, never lost."""

import io
import socket
import threading

from fxdap.adapter.batches import LONGEST, batched
from fxdap.wire.connection import Connection
from fxdap.wire.dispatch import decode_body
from fxdap.wire.envelope import Event, encode, payload
from fxdap.wire.messages import OutputEventBody, Source

LISTING = Source(name="Net.fxgraph", path="/graphs/Net.fxgraph")
SCRIPT = Source(name="net.py", path="/models/net.py")


def log(text: str, line: int = 1, source: Source | None = LISTING) -> Event:
    body = OutputEventBody(category="console", output=text, source=source, line=line)
    return Event(seq=1, event="output", body=payload(body))


def passed_on(*events: Event) -> list[str | tuple[str, int | None]]:
    """What comes out when all of it has arrived at once: texts with their lines, or event names."""
    bodies = map(encode, events)
    data = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    found: list[str | tuple[str, int | None]] = []
    for message in batched(Connection(io.BytesIO(data), io.BytesIO())):
        assert isinstance(message, Event)
        if message.event == "output":
            body = decode_body(OutputEventBody, message.body)
            found.append((body.output, body.line))
        else:
            found.append(message.event)
    return found


def test_messages_that_are_there_at_once_become_one_in_order():
    assert passed_on(log("a\n", 3), log("b\n", 4), log("c\n", 3)) == [("a\nb\nc\n", 3)]


def test_what_is_said_of_lines_of_source_stays_with_its_line():
    said = [log("a\n", 3, SCRIPT), log("b\n", 3, SCRIPT), log("c\n", 4, SCRIPT)]

    assert passed_on(*said) == [("a\nb\n", 3), ("c\n", 4)]


def test_other_events_keep_their_place_among_them():
    stopped = Event(seq=1, event="stopped")
    other = log("x\n", source=None)

    assert passed_on(log("a\n"), log("b\n"), stopped, log("c\n"), other, log("d\n")) == [
        ("a\nb\n", 1),
        "stopped",
        ("c\n", 1),
        ("x\n", 1),
        ("d\n", 1),
    ]


def test_no_text_grows_without_end():
    found = passed_on(*(log("x" * (LONGEST // 2)) for _ in range(5)))

    assert [len(text[0]) for text in found] == [LONGEST, LONGEST, LONGEST // 2]


def test_a_flood_comes_whole_and_what_follows_it_comes_behind():
    here, there = socket.socketpair()
    debuggee = Connection.over_socket(there)

    def flood() -> None:
        for number in range(1000):
            body = OutputEventBody(category="console", output=f"{number}\n", source=LISTING)
            debuggee.send_event("output", body)
        debuggee.send_event("stopped")
        debuggee.close()

    thread = threading.Thread(target=flood)
    thread.start()
    adapter = Connection.over_socket(here)
    *logged, last = list(batched(adapter))
    thread.join()
    adapter.close()

    assert isinstance(last, Event)
    assert last.event == "stopped"
    texts = (decode_body(OutputEventBody, e.body).output for e in logged if isinstance(e, Event))
    assert "".join(texts) == "".join(f"{number}\n" for number in range(1000))
