"""debugpy at the same job: stepping the Python code that torch.fx generates for a graph."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.models import chain_1500
from benchmarks.session import Session

MAIN = """
import torch
from torch import device, inf, nan, tensor

{code}

if __name__ == "__main__":
    forward(None, torch.linspace(-1, 1, 8))
"""


@contextmanager
def generated_code_session() -> Iterator[Session]:
    """Stopped in the generated code of `chain_1500`, with the values of 1000 nodes as locals."""
    with tempfile.TemporaryDirectory() as folder, Session("debugpy.adapter") as session:
        script = Path(folder) / "generated.py"
        script.write_text(MAIN.format(code=_code_that_keeps_values()))
        session.initialize()
        session.launch(
            {"program": str(script), "console": "internalConsole", "justMyCode": False},
            source_breakpoints={
                "source": {"path": str(script)},
                "breakpoints": [{"line": _line_of(script, "relu_250 =")}],
            },
        )
        session.wait_stopped()
        yield session


def _code_that_keeps_values() -> str:
    """torch frees each value after its last use with `; x = None`; fxdap keeps them all."""
    module, _ = chain_1500()
    lines = module.code.splitlines()
    return "\n".join(line.partition(";")[0] for line in lines)


def _line_of(script: Path, text: str) -> int:
    lines = script.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.lstrip().startswith(text))
