"""Models of images and speech from `transformers`."""

from functools import partial
from typing import Any

from tests.zoo.architecture import Architecture, Inputs, image, tokens
from tests.zoo.language import SIZES, hugging

PATCHES: dict[str, Any] = {
    key: SIZES[key]
    for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
} | {"image_size": 16, "patch_size": 4}
CONVOLVED: dict[str, Any] = {
    key: SIZES[key]
    for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
} | {
    "conv_dim": (16, 16),
    "conv_stride": (4, 2),
    "conv_kernel": (8, 3),
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 4,
}


def seen(
    name: str, model: str, *, size: int = 16, quick: bool = False, **sizes: Any
) -> Architecture:
    """One that looks at images."""
    config = f"{model.removesuffix('Model')}Config"
    inputs = {"pixel_values": image(2, 3, size, size)}
    return Architecture(name, "vision", partial(hugging, model, config, inputs, sizes), quick=quick)


def heard(
    name: str, model: str, inputs: Inputs, *, quick: bool = False, **sizes: Any
) -> Architecture:
    """One that listens."""
    config = f"{model.removesuffix('Model')}Config"
    return Architecture(name, "speech", partial(hugging, model, config, inputs, sizes), quick=quick)


def clip() -> Any:
    config = {
        "text_config": SIZES | {"eos_token_id": 2},
        "vision_config": PATCHES,
        "projection_dim": 16,
    }
    inputs = {"input_ids": tokens(2, 5), "pixel_values": image(2, 3, 16, 16)}
    return hugging("CLIPModel", "CLIPConfig", inputs, config)


WAVE = {"input_values": image(2, 400)}

VISION = [
    seen("vit", "ViTModel", quick=True, **PATCHES),
    seen("deit", "DeiTModel", **PATCHES),
    seen("beit", "BeitModel", use_relative_position_bias=True, **PATCHES),
    seen(
        "dinov2",
        "Dinov2Model",
        mlp_ratio=2,
        **{k: v for k, v in PATCHES.items() if k != "intermediate_size"},
    ),
    seen(
        "swin",
        "SwinModel",
        size=32,
        image_size=32,
        patch_size=4,
        embed_dim=16,
        depths=[2, 1],
        num_heads=[2, 4],
        window_size=4,
    ),
    seen(
        "segformer",
        "SegformerModel",
        size=32,
        num_encoder_blocks=2,
        depths=[1, 1],
        sr_ratios=[4, 2],
        hidden_sizes=[16, 32],
        patch_sizes=[7, 3],
        strides=[4, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
    ),
    seen("convnext", "ConvNextModel", size=32, hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
    seen(
        "mobilevit",
        "MobileViTModel",
        size=64,
        hidden_sizes=[16, 24, 32],
        neck_hidden_sizes=[4, 8, 8, 12, 16, 16, 32],
        image_size=64,
    ),
    Architecture("clip", "vision", clip),
]

SPEECH = [
    heard("wav2vec2", "Wav2Vec2Model", WAVE, quick=True, **CONVOLVED),
    heard("hubert", "HubertModel", WAVE, **CONVOLVED),
    heard(
        "whisper",
        "WhisperModel",
        {"input_features": image(2, 16, 40), "decoder_input_ids": tokens(2, 5)},
        vocab_size=99,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        num_mel_bins=16,
        max_source_positions=20,
        max_target_positions=32,
        use_cache=False,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
    ),
    heard(
        "audio-spectrogram",
        "ASTModel",
        {"input_values": image(2, 24, 16)},
        max_length=24,
        num_mel_bins=16,
        frequency_stride=4,
        time_stride=4,
        **{k: v for k, v in PATCHES.items() if k != "image_size"},
    ),
]
