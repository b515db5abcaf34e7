"""A BERT encoder from transformers, made from a small configuration with random weights.

It takes keyword arguments and returns a `BaseModelOutputWithPooling`, as library models do.
"""

import torch
from transformers import BertConfig, BertModel

CONFIG = BertConfig(
    vocab_size=128,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=32,
)


def model() -> BertModel:
    torch.manual_seed(0)
    return BertModel(CONFIG).eval()


def example_inputs() -> tuple[tuple[()], dict[str, torch.Tensor]]:
    """Two sentences, the second one shorter."""
    tokens = torch.arange(24).reshape(2, 12)
    mask = torch.ones(2, 12, dtype=torch.long)
    mask[1, 8:] = 0
    return (), {"input_ids": tokens, "attention_mask": mask}


if __name__ == "__main__":
    args, kwargs = example_inputs()
    with torch.no_grad():
        output = model()(*args, **kwargs)
    print("pooled:", output.pooler_output.sum(dim=1))
