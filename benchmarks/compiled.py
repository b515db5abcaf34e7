"""What a training step costs whose graphs torch.compile hands to us, beside `aot_eager`."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.session import ROOT, Session
from benchmarks.table import Row
from benchmarks.timing import median, ratios, spread

SECONDS = 15.0


def aot_step() -> Iterable[Row]:
    """With a client and nothing set; beside it with all values kept, as is the default."""
    needed, kept = _times("needed"), _times("all")
    ours = ratios(needed["fxdap_aot"], needed["aot_eager"])
    yield Row(
        name="aot_step",
        value=median(ours),
        unit="x",
        bar=1.05,
        spread=spread(ours),
        peers={"all values kept": median(ratios(kept["fxdap_aot"], kept["aot_eager"]))},
        note=f"aot_eager {median(needed['aot_eager']) * 1000:.3g} ms",
    )


def _times(keep_values: str) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder, Session() as session:
        result = Path(folder) / "times.json"
        session.initialize()
        session.launch(
            {
                "module": "benchmarks.compiled_debuggee",
                "args": [str(SECONDS), str(result)],
                "cwd": str(ROOT),
                "stopOnEntry": False,
                "keepValues": keep_values,
                "timeTravel": False,
            }
        )
        session.wait_terminated()
        times: dict[str, list[float]] = json.loads(result.read_text())
        return times
