"""readMemory and writeMemory: the bytes of CPU tensors."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.edits import record_write
from fxdap.server.memory import read, write
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Capabilities,
    ReadMemoryArguments,
    ReadMemoryResponseBody,
    WriteMemoryArguments,
    WriteMemoryResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session


@serves(
    "readMemory",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_read_memory_request=True),
)
def read_memory(session: Session, arguments: ReadMemoryArguments) -> Struct:
    """Bytes of a tensor's storage, from its first element on; unreadable ones are counted."""
    tensor = session.memory.tensor(arguments.memory_reference)
    window = read(tensor, arguments.offset or 0, arguments.count)
    return ReadMemoryResponseBody(
        address=f"{max(window.address, 0):#x}",
        data=base64.b64encode(window.data).decode() if window.data else None,
        unreadable_bytes=window.missing or None,
    )


@serves(
    "writeMemory",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_write_memory_request=True),
)
def write_memory(session: Session, arguments: WriteMemoryArguments) -> Struct:
    """Change bytes of a tensor, whatever shows it; all of them, or none unless partly is fine."""
    tensor = session.memory.tensor(arguments.memory_reference)
    try:
        data = base64.b64decode(arguments.data, validate=True)
    except binascii.Error as error:
        raise RequestError(f"writeMemory: 'data' is not base64: {error}") from None
    offset = arguments.offset or 0
    window = read(tensor, offset, len(data))
    if window.missing and not arguments.allow_partial:
        raise RequestError(f"writeMemory: {window.missing} of {len(data)} bytes lie outside")
    record_write(session.debugger.current_thread(), tensor)
    written = write(tensor, offset, data)
    session.edited(session.debugger.current_thread(), "the change of memory")
    return WriteMemoryResponseBody(bytes_written=written)
