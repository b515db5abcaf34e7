import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from fxdap.wire import messages
from fxdap.wire.messages import (
    EVENTS,
    REQUESTS,
    REVERSE_REQUESTS,
    Capabilities,
    InitializeRequestArguments,
    InitializeResponseBody,
    Source,
    SourceBreakpoint,
    StackFrameFormat,
)

STRUCTS = [
    value
    for value in vars(messages).values()
    if isinstance(value, type) and issubclass(value, msgspec.Struct)
]


def test_the_generated_module_is_what_the_schema_gives(repo_root: Path) -> None:
    script = repo_root / "scripts" / "generate_messages.py"
    schema = repo_root / "tests" / "data" / "dap.schema.json"
    done = subprocess.run(
        [sys.executable, script, schema, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tables_hold_the_whole_protocol() -> None:
    assert (len(REQUESTS), len(REVERSE_REQUESTS), len(EVENTS)) == (43, 2, 17)
    assert InitializeResponseBody is Capabilities


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_every_type_can_be_decoded(kind: type[msgspec.Struct]) -> None:
    required = [f for f in msgspec.structs.fields(kind) if f.required]
    if required:
        with pytest.raises(msgspec.ValidationError, match="missing required field"):
            msgspec.json.decode(b"{}", type=kind)
    else:
        assert msgspec.json.decode(b"{}", type=kind) == kind()


def test_names_on_the_wire_are_the_protocols() -> None:
    arguments = InitializeRequestArguments(
        client_id="c", adapter_id="a", lines_start_at1=True, supports_ansi_styling=False
    )
    assert msgspec.json.decode(msgspec.json.encode(arguments)) == {
        "clientID": "c",
        "adapterID": "a",
        "linesStartAt1": True,
        "supportsANSIStyling": False,
    }


def test_absent_fields_are_not_written_and_unknown_ones_ignored() -> None:
    text = b'{"path":"a.py","checksums":null,"fromTheFuture":{"x":[1]}}'
    source = msgspec.json.decode(text, type=Source)
    assert source == Source(path="a.py")
    assert msgspec.json.encode(source) == b'{"path":"a.py"}'


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match=r">= 0 - at `\$\.line`"):
        msgspec.json.decode(b'{"line":-1}', type=SourceBreakpoint)


def test_a_type_that_extends_another_has_the_fields_of_both() -> None:
    format = msgspec.json.decode(b'{"hex":true,"line":true}', type=StackFrameFormat)
    assert format == StackFrameFormat(hex=True, line=True)
