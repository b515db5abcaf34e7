"""TorchLens at the same job: every value of a run, kept. In the extra `bench`."""

from dataclasses import replace
from importlib.util import find_spec

from benchmarks.throughput import Mode

NAME = "TorchLens"
MODEL = "gpt12"
"""On a thousand tiny nodes it takes ten seconds a run."""


def beside(mode: Mode, model: str) -> Mode:
    """The mode with TorchLens as a peer, where that keeps all values too and is installed."""
    if mode.prefix != "keep" or model != MODEL or find_spec("torchlens") is None:
        return mode
    return replace(mode, peers=(*mode.peers, NAME))
