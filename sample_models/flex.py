"""flex_attention: its score_mod and mask_mod are graphs of their own, run once for all scores."""

from typing import Any

import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


class Attention(nn.Module):
    """Causal attention whose scores fall with the distance."""

    def forward(self, x: torch.Tensor) -> Any:
        def decay(score: Any, batch: Any, head: Any, query: Any, key: Any) -> Any:
            return score - 0.1 * (query - key)

        def causal(batch: Any, head: Any, query: Any, key: Any) -> Any:
            return query >= key

        mask = create_block_mask(causal, None, None, 16, 16, device="cpu")
        return flex_attention(x, x, x, score_mod=decay, block_mask=mask)


def model() -> Attention:
    return Attention()


def example_inputs() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 2 * 16 * 8).reshape(1, 2, 16, 8),)


if __name__ == "__main__":
    print(torch.export.export(model(), example_inputs()).module()(*example_inputs()).sum())
