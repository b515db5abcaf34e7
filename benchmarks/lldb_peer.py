"""lldb-dap at the same job: stepping a C program of as many lines."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.session import Session

LINES = 300

# Debian 12 has it under its first name.
NAMES = ("lldb-dap", "lldb-vscode", "lldb-vscode-14")


def lldb_dap() -> str | None:
    """The adapter, if it and a compiler are installed."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found if shutil.which("cc") else None


@contextmanager
def c_session(adapter: str) -> Iterator[Session]:
    """Stopped on the first line of a C program that is nothing but additions."""
    with tempfile.TemporaryDirectory() as folder, Session([adapter]) as session:
        source, program = Path(folder) / "main.c", Path(folder) / "main"
        body = "  x += 1;\n" * LINES
        source.write_text(f"int main(void) {{\n  volatile int x = 0;\n{body}  return x;\n}}\n")
        subprocess.run(["cc", "-g", "-O0", source, "-o", program], check=True)
        session.initialize()
        session.client.request("launch", {"program": str(program)}, timeout=30)
        lines = {"source": {"path": str(source)}, "breakpoints": [{"line": 3}]}
        session.client.request("setBreakpoints", lines)
        session.client.request("configurationDone")
        session.wait_stopped()
        yield session
