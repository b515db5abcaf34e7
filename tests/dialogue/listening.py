"""A process of the user's that called `fxdap.listen`, and clients that come to it directly."""

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TextIO, cast

from fxdap.wire.client import DapClient
from tests.dialogue.dialogue import PATIENCE, Dialogue

TOKEN = "secret"

FOREVER = """
import time, torch, fxdap
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x + 1) * 2
graph = torch.fx.symbolic_trace(Model())
fxdap.listen(token="secret")
while True:
    graph(torch.ones(2))
    time.sleep(0.002)
"""


class Listening:
    """The process, what it printed, and where it listens."""

    def __init__(self, folder: Path, environment: dict[str, str], code: str = FOREVER) -> None:
        self.folder = folder
        script = folder / "listening.py"
        script.write_text(code)
        self.process = subprocess.Popen(
            [sys.executable, script],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", self.process.stderr.readline())
        assert found is not None
        self.port = int(found[1])
        self._stderr: list[str] = []
        self._drain = threading.Thread(target=self._read_stderr)
        self._drain.start()

    def connect(self) -> Dialogue:
        """A client that speaks to the process without an adapter."""
        return Dialogue(DapClient.connect("127.0.0.1", self.port), self.folder)

    def lines(self, count: int) -> list[str]:
        """The next lines that the process prints."""
        stream = cast(TextIO, self.process.stdout)
        return [stream.readline().rstrip("\n") for _ in range(count)]

    def tell(self, line: str) -> None:
        """Answer the process's `input()`."""
        stream = cast(TextIO, self.process.stdin)
        stream.write(f"{line}\n")
        stream.flush()

    def errors(self) -> str:
        """What it wrote to stderr after the line that says where it listens."""
        self._drain.join(PATIENCE)
        return "".join(self._stderr)

    def is_running(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        self.process.kill()
        self._drain.join(PATIENCE)
        with self.process:
            pass

    def _read_stderr(self) -> None:
        self._stderr.extend(cast(TextIO, self.process.stderr))
