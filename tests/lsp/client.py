"""An LSP client for tests: the real server in its own process, over stdio or TCP.

Requests are checked against the specification's types on the way out and answers on the way in.
"""

import json
import os
import queue
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from lsprotocol import converters, types

from tests.conftest import ROOT

TIMEOUT = 60.0
_CONVERTER = converters.get_converter()


class LspError(Exception):
    """The server answered with an error."""


class Client:
    """One session: `initialize` is done when it is made, `shutdown` and `exit` when it closes."""

    def __init__(
        self,
        folder: Path,
        *,
        workspace: bool = True,
        options: Any = None,
        encodings: tuple[str, ...] = ("utf-16",),
        env: dict[str, str] | None = None,
        tcp: bool = False,
    ) -> None:
        command = [sys.executable, "-m", "fxdap.lsp"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        port = _free_port() if tcp else 0
        self.process = subprocess.Popen(
            [*command, "--port", str(port)] if tcp else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self._pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        self._write: Any = self._pipes[0]
        self._read: Any = self._pipes[1]
        if tcp:
            with _connect(port) as connection:
                stream = connection.makefile("rwb")
            self._write = self._read = stream
        self._answers: dict[int, dict[str, Any]] = {}
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._next_id = 0
        self.diagnostics: dict[str, types.PublishDiagnosticsParams] = {}
        self.notifications: list[dict[str, Any]] = []
        self.stderr: list[bytes] = []
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._drain, daemon=True).start()
        self.initialized = self.request(
            types.INITIALIZE,
            types.InitializeParams(
                capabilities=_capabilities(encodings),
                workspace_folders=[
                    types.WorkspaceFolder(each.as_uri(), each.name)
                    for each in ([folder] if workspace else [])
                ],
                initialization_options=options,
            ),
        )
        self.notify(types.INITIALIZED, types.InitializedParams())

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.request(types.SHUTDOWN, None)
            self.notify(types.EXIT, None)
            self.process.wait(10)
        for stream in (self._write, self._read, *self._pipes):
            stream.close()

    # -- asking ---------------------------------------------------------------------------------

    def open(self, path: Path | str, text: str, language: str = "fxgraph", version: int = 1) -> str:
        """Open a document; gives its URI."""
        uri = path if isinstance(path, str) else path.as_uri()
        item = types.TextDocumentItem(uri, language, version, text)
        self.notify(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
        return uri

    def change(
        self, uri: str, version: int, *changes: types.TextDocumentContentChangeEvent
    ) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        params = types.DidChangeTextDocumentParams(document, changes)
        self.notify(types.TEXT_DOCUMENT_DID_CHANGE, params)

    def at(self, method: str, uri: str, line: int, column: int, **more: Any) -> Any:
        """A request about a position."""
        params_type: Any = types.METHOD_TO_TYPES[method][2]
        document = types.TextDocumentIdentifier(uri)
        position = types.Position(line, column)
        return self.request(method, params_type(text_document=document, position=position, **more))

    def about(self, method: str, uri: str, **more: Any) -> Any:
        """A request about a document."""
        params_type: Any = types.METHOD_TO_TYPES[method][2]
        return self.request(method, params_type(types.TextDocumentIdentifier(uri), **more))

    def request(self, method: str, params: Any, raw: bool = False) -> Any:
        return self.answer(self.send(method, params), method, raw)

    def send(self, method: str, params: Any) -> int:
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        self._put({**message, "params": _plain(params)})
        return self._next_id

    def notify(self, method: str, params: Any) -> None:
        self._put({"jsonrpc": "2.0", "method": method, "params": _plain(params)})

    def put_raw(self, data: bytes) -> None:
        self._write.write(data)
        self._write.flush()

    # -- reading --------------------------------------------------------------------------------

    def answer(self, number: int, method: str, raw: bool = False) -> Any:
        """The answer to a request, as the specification's type of it, or as it came."""
        while number not in self._answers:
            self._take()
        message = self._answers.pop(number)
        if "error" in message:
            raise LspError(message["error"]["message"])
        known = types.METHOD_TO_TYPES.get(method)
        if raw or known is None:
            return message["result"]
        answer: Any = known[1]
        return _CONVERTER.structure(message, answer).result

    def diagnostics_of(self, uri: str, version: int) -> list[types.Diagnostic]:
        """What was published for that version, once it is there."""
        while uri not in self.diagnostics or self.diagnostics[uri].version != version:
            self._take()
        return list(self.diagnostics[uri].diagnostics)

    def wait_for(self, method: str) -> Any:
        """The parameters of the next notification of that kind."""
        while True:
            for index, message in enumerate(self.notifications):
                if message["method"] == method:
                    return self.notifications.pop(index).get("params")
            self._take()

    def _take(self) -> None:
        message = self._inbox.get(timeout=TIMEOUT)
        assert message is not None, b"".join(self.stderr).decode()
        if "method" not in message:
            self._answers[message["id"]] = message
        elif "id" in message:
            self._put({"jsonrpc": "2.0", "id": message["id"], "result": None})
        elif message["method"] == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS:
            params = _CONVERTER.structure(message["params"], types.PublishDiagnosticsParams)
            self.diagnostics[params.uri] = params
        else:
            self.notifications.append(message)

    def _put(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self.put_raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _receive(self) -> None:
        try:
            while True:
                length = 0
                while (line := self._read.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                if line == b"":
                    break
                self._inbox.put(json.loads(self._read.read(length)))
        except (OSError, ValueError):
            pass
        self._inbox.put(None)

    def _drain(self) -> None:
        try:
            for line in self._pipes[2]:
                self.stderr.append(line)
        except ValueError:
            pass


def _plain(params: Any) -> Any:
    return _CONVERTER.unstructure(params) if hasattr(params, "__attrs_attrs__") else params


def _capabilities(encodings: tuple[str, ...]) -> types.ClientCapabilities:
    general = types.GeneralClientCapabilities(position_encodings=encodings)
    symbols = types.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True)
    window = types.WindowClientCapabilities(work_done_progress=True)
    documents = types.TextDocumentClientCapabilities(document_symbol=symbols)
    return types.ClientCapabilities(general=general, text_document=documents, window=window)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _connect(port: int) -> socket.socket:
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        except ConnectionRefusedError:
            threading.Event().wait(0.05)
    raise TimeoutError(f"nothing listens on port {port}")
