"""The language server on a listing of 20,000 nodes; measured in the client's process."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Any

from benchmarks.session import ROOT
from benchmarks.table import Row, milliseconds
from benchmarks.timing import median, stopwatch

URI = "file:///nowhere/large.fxgraph"
LINE = 12_000
ROUNDS = 20

LINES = (
    "aten.relu.default(%{})",
    "aten.add.Tensor(%{}, %x)",
    "aten.view.default(%{}, [8, 64])",
    "aten.mul.Tensor(%{}, 0.5)",
)


def listing(modules: int = 1000, nodes: int = 20) -> str:
    """The listing of an imaginary model: a header, a few source lines, twenty nodes, and so on."""
    return "\n".join(_lines(modules, nodes)) + "\n"


def _lines(modules: int, nodes: int) -> Iterator[str]:
    yield from ("# Large", "  %x: f32[8, 64] = placeholder")
    last = "x"
    for module in range(modules):
        yield f"# layers.{module}.mlp  MLP                             model.py:{module + 1}"
        for number in range(nodes):
            if number % 5 == 0:
                yield f"  # model.py:{number + 10}  x = torch.relu(x) + self.weight"
            name = f"node_{module * nodes + number}"
            yield f"  %{name}: f32[8, 64] = {LINES[number % 4].format(last)}"
            last = name
    yield f"  %output = return (%{last},)"


class Server:
    """`python -m fxdap.lsp` and the bytes to and from it."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fxdap.lsp"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._id = 0
        self._version = 1
        self.request(
            "initialize", {"capabilities": {}, "initializationOptions": {"commands": True}}
        )
        self.notify("initialized", {})

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def request(self, method: str, params: dict[str, Any]) -> None:
        """Ask, and read until the answer has come."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        answer = re.compile(rb'"id": ?%d,' % self._id)
        while not answer.search(self._receive()[:100]):
            pass

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._send({"method": method, "params": params})

    def open(self, text: str) -> None:
        item = {"uri": URI, "languageId": "fxgraph", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def type_character(self) -> None:
        self._version += 1
        place = {"line": LINE, "character": 4}
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": URI, "version": self._version},
                "contentChanges": [{"range": {"start": place, "end": place}, "text": "x"}],
            },
        )

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> bytes:
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline()) != b"\r\n":
            if not line:
                raise RuntimeError("the language server ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line[15:])
        return self._process.stdout.read(length)


def start() -> Iterable[Row]:
    """From nothing to the answer to `initialize`."""
    yield milliseconds("lsp_start", [_start() for _ in range(7)], 800.0)


def large_listing() -> Iterable[Row]:
    """Open it, ask everything an editor asks, type a character."""
    text = listing()
    opened = []
    for _ in range(5):
        with Server() as server:
            opened.append(stopwatch(partial(_open, server, text)))
    yield milliseconds("lsp_open_20k", opened, 1000.0)
    with Server() as server:
        _open(server, text)
        times = {name: _times(ask) for name, ask in _requests(server).items()}
        typed = _times(partial(_type, server))
    slowest = max(times, key=lambda name: median(times[name]))
    yield milliseconds("lsp_request_20k", times[slowest], 50.0, note=f"slowest: {slowest}")
    yield milliseconds("lsp_type_20k", typed, 200.0)


def _start() -> float:
    def begin() -> None:
        servers.append(Server())

    servers: list[Server] = []
    seconds = stopwatch(begin)
    with servers[0]:
        return seconds


def _open(server: Server, text: str) -> None:
    server.open(text)
    _hover(server)


def _type(server: Server) -> None:
    server.type_character()
    _hover(server)


def _hover(server: Server) -> None:
    server.request("textDocument/hover", _at())


def _at() -> dict[str, Any]:
    return {**_document(), "position": {"line": LINE, "character": 4}}


def _document() -> dict[str, Any]:
    return {"textDocument": {"uri": URI}}


def _requests(server: Server) -> dict[str, Callable[[], None]]:
    screen = {"start": {"line": LINE, "character": 0}, "end": {"line": LINE + 60, "character": 0}}
    context = {"context": {"includeDeclaration": True}}
    params: dict[str, dict[str, Any]] = {
        "hover": _at(),
        "documentHighlight": _at(),
        "references": {**_at(), **context},
        "completion": _at(),
        "prepareCallHierarchy": _at(),
        "documentSymbol": _document(),
        "foldingRange": _document(),
        "codeLens": _document(),
        "documentLink": _document(),
        "semanticTokens/full": _document(),
        "semanticTokens/range": {**_document(), "range": screen},
        "inlayHint": {**_document(), "range": screen},
    }
    return {
        name: partial(server.request, f"textDocument/{name}", each) for name, each in params.items()
    }


def _times(action: Callable[[], None]) -> list[float]:
    action()
    return [stopwatch(action) for _ in range(ROUNDS)]
