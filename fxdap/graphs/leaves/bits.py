"""Whether two values are the same bit for bit."""

from typing import Any

import torch


def same_bits(left: Any, right: Any) -> bool:
    """Equal in structure, types, shapes, strides and every bit; unknown objects by identity."""
    if isinstance(left, torch.Tensor):
        return isinstance(right, torch.Tensor) and _same_tensors(left, right)
    if isinstance(left, (list, tuple)):
        alike = type(left) is type(right) and len(left) == len(right)
        return alike and all(map(same_bits, left, right))
    if isinstance(left, dict):
        alike = type(left) is type(right) and list(left) == list(right)
        return alike and all(same_bits(left[key], right[key]) for key in left)
    if left is right:
        return True
    return type(left) is type(right) and bool(left == right or (left != left and right != right))


def _same_tensors(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left is right:
        return True
    kinds = [(t.dtype, t.shape, t.device, t.layout, t.requires_grad) for t in (left, right)]
    if kinds[0] != kinds[1] or type(left) is not type(right):
        return False
    if left.layout is not torch.strided:
        return torch.equal(left, right)
    if left.stride() != right.stride():
        return False
    return torch.equal(_bits(left), _bits(right))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return plain.reshape(-1).view(torch.uint8) if plain.numel() else plain
