"""Answers as JSON: twenty times as fast as lsprotocol's converter, which long ones need."""

from enum import Enum
from functools import cache
from typing import Any

import msgspec
from lsprotocol import types
from pygls.protocol import LanguageServerProtocol

from fxdap.lsp.workspace import Documents


class Encoded:
    """An answer as it goes over the wire."""

    def __init__(self, answer: Any) -> None:
        self.json = msgspec.Raw(msgspec.json.encode(plain(answer)))


class Protocol(LanguageServerProtocol):
    """Sends encoded answers as they are; keeps documents that count lines as the client does."""

    def use_own_documents(self) -> None:
        """To be called at `initialize`, when pygls has made its workspace."""
        made = self.workspace
        folders = list(made.folders.values())
        encoding = made.position_encoding
        self._workspace = Documents(
            made.root_uri, workspace_folders=folders, position_encoding=encoding
        )

    def _send_response(
        self, msg_id: int | str, result: Any = None, error: types.ResponseError | None = None
    ) -> None:
        if not isinstance(result, Encoded) or self.writer is None:
            super()._send_response(msg_id, result, error)
            return
        self._result_types.pop(msg_id, None)
        answer = {"jsonrpc": self.VERSION, "id": msg_id, "result": result.json}
        body = msgspec.json.encode(answer)
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def plain(value: Any) -> Any:
    """lsprotocol's types as JSON's own; what is made of those already stays as it is."""
    kind: Any = type(value)
    if kind is types.Range:
        return {"start": _position(value.start), "end": _position(value.end)}
    if kind in (str, int, bool) or value is None:
        return value
    if kind is dict:
        return {key: plain(each) for key, each in value.items()}
    if kind in (list, tuple):
        # A list of numbers is a list of tokens.
        return value if value and type(value[0]) is int else [plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if not hasattr(kind, "__attrs_attrs__"):
        return value
    found = ((json, getattr(value, name)) for name, json in _fields(kind))
    return {json: plain(each) for json, each in found if each is not None}


def _position(value: types.Position) -> dict[str, int]:
    return {"line": value.line, "character": value.character}


@cache
def _fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """An attrs class's names, and the same as the specification writes them."""
    return tuple((each.name, _camel(each.name)) for each in kind.__attrs_attrs__)


def _camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)
