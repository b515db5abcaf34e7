"""Encoders, decoders, encoder-decoders, state-space models and mixtures of experts for text."""

from functools import partial
from typing import Any

import torch
from torch import nn

from tests.zoo.architecture import Architecture, Inputs, tokens

SIZES: dict[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
GROUPED = SIZES | {"num_key_value_heads": 2, "use_cache": False}
ENCODER_DECODER: dict[str, Any] = {
    "vocab_size": 99,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "use_cache": False,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
T5_SIZES: dict[str, Any] = {
    "vocab_size": 99,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "use_cache": False,
}


def hugging(model: str, config: str, inputs: Inputs, sizes: Inputs) -> tuple[nn.Module, Inputs]:
    """A model of `transformers` from a config of its own class."""
    import transformers

    made = getattr(transformers, config)(**sizes)
    return getattr(transformers, model)(made), inputs


def text(
    name: str, family: str, model: str, sizes: Inputs, *, quick: bool = False, **more: Any
) -> Architecture:
    """One that reads token ids; its config class is named like the model's."""
    config = f"{model.removesuffix('Model').removesuffix('ForCausalLM')}Config"
    inputs = {"input_ids": tokens(2, 9)}
    return Architecture(
        name, family, partial(hugging, model, config, inputs, sizes | more), quick=quick
    )


def pair(
    name: str,
    model: str,
    config: str,
    sizes: Inputs,
    *,
    family: str = "encoder-decoder",
    quick: bool = False,
    **more: Any,
) -> Architecture:
    """One that reads a source and a target."""
    inputs = {"input_ids": tokens(2, 9), "decoder_input_ids": tokens(2, 5)}
    build = partial(hugging, model, config, inputs, sizes | more)
    return Architecture(name, family, build, quick=quick)


def perceiver() -> tuple[nn.Module, Inputs]:
    model, _ = hugging(
        "PerceiverModel",
        "PerceiverConfig",
        {},
        {
            "num_latents": 8,
            "d_latents": 16,
            "d_model": 16,
            "num_blocks": 1,
            "num_self_attends_per_block": 2,
            "num_self_attention_heads": 2,
            "num_cross_attention_heads": 2,
        },
    )
    return model, {"inputs": torch.linspace(-1, 1, 2 * 10 * 16).reshape(2, 10, 16)}


ENCODERS = [
    text("bert", "encoder", "BertModel", SIZES, quick=True),
    text("roberta", "encoder", "RobertaModel", SIZES),
    text("albert", "encoder", "AlbertModel", SIZES, embedding_size=16),
    text("electra", "encoder", "ElectraModel", SIZES, embedding_size=16),
    text(
        "distilbert",
        "encoder",
        "DistilBertModel",
        {},
        vocab_size=99,
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=48,
    ),
    text(
        "deberta-v2",
        "encoder",
        "DebertaV2Model",
        SIZES,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_buckets=8,
    ),
    text("mpnet", "encoder", "MPNetModel", SIZES),
    text("fnet", "encoder", "FNetModel", SIZES),
    text(
        "modernbert",
        "encoder",
        "ModernBertModel",
        SIZES,
        pad_token_id=0,
        global_attn_every_n_layers=2,
    ),
    text(
        "funnel",
        "encoder",
        "FunnelModel",
        {},
        vocab_size=99,
        block_sizes=[1, 1],
        d_model=32,
        n_head=4,
        d_head=8,
        d_inner=48,
        num_decoder_layers=1,
    ),
    Architecture("perceiver", "encoder", perceiver),
]

DECODERS = [
    text(
        "gpt2",
        "decoder",
        "GPT2Model",
        {},
        vocab_size=99,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        use_cache=False,
    ),
    text("gpt-neox", "decoder", "GPTNeoXModel", SIZES, use_cache=False),
    text(
        "opt",
        "decoder",
        "OPTModel",
        {},
        vocab_size=99,
        hidden_size=32,
        ffn_dim=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        word_embed_proj_dim=32,
        use_cache=False,
    ),
    text(
        "bloom",
        "decoder",
        "BloomModel",
        {},
        vocab_size=99,
        hidden_size=32,
        n_layer=2,
        n_head=4,
        use_cache=False,
    ),
    text("llama", "decoder", "LlamaModel", GROUPED, quick=True),
    text("mistral", "decoder", "MistralModel", GROUPED, sliding_window=4, head_dim=8),
    text("qwen3", "decoder", "Qwen3Model", GROUPED, head_dim=8),
    text("gemma2", "decoder", "Gemma2Model", GROUPED, head_dim=8, sliding_window=4, pad_token_id=0),
    text("phi3", "decoder", "Phi3Model", GROUPED, pad_token_id=0),
    text("falcon", "decoder", "FalconModel", SIZES, use_cache=False),
    text("olmo2", "decoder", "Olmo2Model", GROUPED),
    text(
        "xlnet",
        "decoder",
        "XLNetModel",
        {},
        vocab_size=99,
        d_model=32,
        n_layer=2,
        n_head=4,
        d_inner=48,
    ),
]

ENCODER_DECODERS = [
    pair("t5", "T5Model", "T5Config", T5_SIZES, quick=True),
    pair("bart", "BartModel", "BartConfig", ENCODER_DECODER),
    pair("pegasus", "PegasusModel", "PegasusConfig", ENCODER_DECODER),
    pair("marian", "MarianModel", "MarianConfig", ENCODER_DECODER),
    pair(
        "prophetnet",
        "ProphetNetModel",
        "ProphetNetConfig",
        {},
        vocab_size=99,
        hidden_size=32,
        num_encoder_layers=1,
        num_decoder_layers=1,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
        use_cache=False,
    ),
]

STATE_SPACE = [
    text(
        "mamba",
        "state-space",
        "MambaModel",
        {},
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        state_size=4,
        use_cache=False,
    ),
    text(
        "mamba2",
        "state-space",
        "Mamba2Model",
        {},
        quick=True,
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        state_size=4,
        num_heads=8,
        head_dim=8,
        n_groups=2,
        chunk_size=4,
        use_cache=False,
    ),
    text(
        "rwkv",
        "state-space",
        "RwkvModel",
        {},
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        context_length=16,
        use_cache=False,
    ),
]

EXPERTS = [
    text("mixtral", "mixture of experts", "MixtralModel", GROUPED, quick=True, num_local_experts=4),
    text(
        "qwen2-moe",
        "mixture of experts",
        "Qwen2MoeModel",
        GROUPED,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    ),
    text(
        "olmoe", "mixture of experts", "OlmoeModel", GROUPED, num_experts=4, num_experts_per_tok=2
    ),
    pair(
        "switch-transformers",
        "SwitchTransformersModel",
        "SwitchTransformersConfig",
        T5_SIZES,
        family="mixture of experts",
        num_experts=2,
        expert_capacity=8,
        num_sparse_encoder_layers=1,
        num_sparse_decoder_layers=1,
    ),
]
