import os
import threading
from collections.abc import Iterator

import pytest

from fxdap.adapter.output import OutputPump
from tests.adapter.conftest import PATIENCE, Started


class Pipes:
    """A pump over two pipes; `text` is what came through, by category."""

    def __init__(self) -> None:
        self._out, self.out = os.pipe()
        self._err, self.err = os.pipe()
        self.text = {"stdout": "", "stderr": ""}
        self.pieces: list[str] = []
        self._changed = threading.Condition()
        self.pump = OutputPump({"stdout": self._out, "stderr": self._err}, self._take)

    def wait_for(self, text: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.text["stdout"] == text, 10)

    def close(self) -> None:
        os.close(self.out)
        os.close(self.err)

    def _take(self, category: str, text: str) -> None:
        with self._changed:
            self.text[category] += text
            self.pieces.append(text)
            self._changed.notify_all()


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


def test_a_character_cut_between_two_writes_arrives_whole(pipes: Pipes) -> None:
    os.write(pipes.out, b"a\xe2\x82")
    pipes.wait_for("a")
    os.write(pipes.out, b"\xacb")
    pipes.wait_for("a\u20acb")
    pipes.pump.finish()


def test_what_is_no_utf8_is_replaced_and_the_rest_kept(pipes: Pipes) -> None:
    os.write(pipes.out, b"a\xff\xfeb\xe2")
    pipes.pump.finish()
    assert pipes.text["stdout"] == "a\ufffd\ufffdb\ufffd"


def test_draining_passes_on_what_was_written_before(pipes: Pipes) -> None:
    os.write(pipes.out, b"out")
    os.write(pipes.err, b"err")
    pipes.pump.drain()
    assert pipes.text == {"stdout": "out", "stderr": "err"}
    pipes.pump.finish()


def test_finishing_does_not_wait_for_another_process_that_holds_the_pipe(pipes: Pipes) -> None:
    # `out` stays open here, as it would in a daemon that the program left behind.
    os.write(pipes.out, b"last words")
    pipes.pump.finish()
    assert pipes.text["stdout"] == "last words"


def test_a_burst_comes_in_chunks(pipes: Pipes) -> None:
    writer = threading.Thread(target=lambda: os.write(pipes.out, b"x" * 1_000_000))
    writer.start()
    pipes.wait_for("x" * 1_000_000)
    writer.join()
    pipes.pump.finish()
    assert max(map(len, pipes.pieces)) <= 64 * 1024


def test_ten_megabytes_arrive_complete_and_in_order(started: Started) -> None:
    code = (
        "import os, sys\n"
        "for number in range(100):\n"
        "    sys.stdout.write(f'{number:06d} ' + '\\u20ac' * 33_333)\n"
        "    sys.stdout.flush()\n"
        "os.write(1, b'\\xff no newline')\n"
        "os.write(2, b'error text')\n"
        "os._exit(4)\n"
    )
    started.launch(code)
    client = started.client
    assert client.wait_event("exited", PATIENCE).exit_code == 4
    expected = "".join(f"{number:06d} " + "\u20ac" * 33_333 for number in range(100))
    assert client.output("stdout") == expected + "\ufffd no newline"
    assert client.output("stderr") == "error text"
    names = [event.name for event in client.events]
    assert names.index("exited") > max(i for i, name in enumerate(names) if name == "output")


def test_what_was_printed_before_a_stop_is_shown_before_it(started: Started) -> None:
    code = (
        "import torch, torch.fx\n"
        "graph = torch.fx.symbolic_trace(torch.nn.ReLU())\n"
        "print('before')\n"
        "graph(torch.ones(2))\n"
    )
    started.launch_stopped(code)
    names = [
        event.name
        for event in started.client.events
        if event.name == "stopped" or (event.name == "output" and "before" in event.body.output)
    ]
    assert names == ["output", "stopped"]


def test_protocol_text_on_standard_output_is_only_text(started: Started) -> None:
    text = 'Content-Length: 40\\r\\n\\r\\n{"seq":1,"type":"event","event":"stopped"}'
    started.launch(f"print('{text}')\nprint('that was all')")
    client = started.client
    client.wait_event("terminated", PATIENCE)
    assert client.output("stdout").endswith("that was all\n")
    assert [event.name for event in client.events if event.name == "stopped"] == []
