"""Runs inside the debuggee: `compiled_debuggee.py SECONDS RESULT` writes its times as JSON.

One training step of a small GPT. Under fxdap the graphs of `fxdap_aot` are debugged and those of
`aot_eager` are not, so that both are measured in one process, in turn.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F

from benchmarks.timing import interleave
from sample_models.gpt import GPT, GPTConfig

BLOCKS = 4


def training_step(backend: str) -> Callable[[], object]:
    """Forward, loss and backward. The optimizer is left out: it is the same for both."""
    config = GPTConfig(blocks=BLOCKS)
    model = GPT(config)
    compiled = torch.compile(model, backend=backend)
    tokens = torch.arange(config.context).remainder(config.vocabulary).unsqueeze(0)

    def step() -> object:
        model.zero_grad(set_to_none=True)
        logits = compiled(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    for _ in range(3):
        step()
    return step


def main(seconds: str, result: str) -> None:
    torch.set_num_threads(1)
    contenders = {name: training_step(name) for name in ("aot_eager", "fxdap_aot")}
    Path(result).write_text(json.dumps(interleave(contenders, float(seconds))))


if __name__ == "__main__":
    main(*sys.argv[1:])
