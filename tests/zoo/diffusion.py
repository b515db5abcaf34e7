"""Denoising models as diffusion uses them, written out: their libraries are large."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.zoo.architecture import Architecture, Inputs, image


def time_embedding(steps: torch.Tensor, width: int) -> torch.Tensor:
    scales = torch.exp(torch.arange(width // 2) * (-math.log(10_000) / (width // 2)))
    angles = steps[:, None].float() * scales[None]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class ResidualBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, time: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(4, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.norm2 = nn.GroupNorm(4, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class CrossAttention(nn.Module):
    def __init__(self, width: int, context: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(4, width)
        self.query = nn.Linear(width, width, bias=False)
        self.pair = nn.Linear(context, 2 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        batch, width, height, length = x.shape
        flat = self.norm(x).flatten(2).transpose(1, 2)
        query = self.query(flat).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        key, value = self.pair(context).chunk(2, dim=-1)
        key = key.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        value = value.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(query, key, value)
        mixed = self.out(mixed.transpose(1, 2).flatten(2))
        return x + mixed.transpose(1, 2).reshape(batch, width, height, length)


class UNet(nn.Module):
    """Two levels with skip connections, time embedding and cross-attention."""

    def __init__(self, width: int = 8, context: int = 12) -> None:
        super().__init__()
        time = 4 * width
        self.width = width
        self.embed = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.start = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList(
            [ResidualBlock(width, width, time), ResidualBlock(width, 2 * width, time)]
        )
        self.shrink = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.attention = CrossAttention(2 * width, context, 2)
        self.middle = ResidualBlock(2 * width, 2 * width, time)
        self.up = nn.ModuleList(
            [ResidualBlock(4 * width, width, time), ResidualBlock(2 * width, width, time)]
        )
        self.end = nn.Sequential(
            nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1)
        )

    def forward(
        self, sample: torch.Tensor, timestep: torch.Tensor, context: torch.Tensor
    ) -> torch.Tensor:
        time = self.embed(time_embedding(timestep, self.width))
        first = self.down[0](self.start(sample), time)
        second = self.down[1](self.shrink(first), time)
        h = self.middle(self.attention(second, context), time)
        h = self.up[0](torch.cat([h, second], dim=1), time)
        h = F.interpolate(h, scale_factor=2.0, mode="nearest")
        return self.end(self.up[1](torch.cat([h, first], dim=1), time))


class TransformerBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )
        self.modulation = nn.Linear(width, 4 * width)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        shift, scale, gate, gate2 = self.modulation(F.silu(time))[:, None].chunk(4, dim=-1)
        h = self.norm(x) * (1 + scale) + shift
        x = x + gate * self.attention(h, h, h, need_weights=False)[0]
        return x + gate2 * self.mlp(self.norm(x))


class DiffusionTransformer(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 2, stride=2)
        self.blocks = nn.ModuleList(TransformerBlock(width) for _ in range(2))
        self.end = nn.Linear(width, 12)
        self.width = width

    def forward(self, sample: torch.Tensor, timestep: torch.Tensor) -> torch.Tensor:
        time = time_embedding(timestep, self.width)
        x = self.patch(sample)
        side = x.shape[-1]
        x = x.flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x, time)
        x = self.end(x).unflatten(1, (side, side)).unflatten(-1, (3, 2, 2))
        return torch.einsum("nhwcpq->nchpwq", x).reshape(sample.shape)


def unet() -> tuple[nn.Module, Inputs]:
    return UNet(), {
        "sample": image(2, 3, 8, 8),
        "timestep": torch.tensor([3, 500]),
        "context": image(2, 5, 12),
    }


def transformer() -> tuple[nn.Module, Inputs]:
    return DiffusionTransformer(), {
        "sample": image(2, 3, 8, 8),
        "timestep": torch.tensor([3, 500]),
    }


DIFFUSION = [
    Architecture("unet", "diffusion", unet, quick=True),
    Architecture("diffusion-transformer", "diffusion", transformer),
]
