"""The types that a listing prints: `f32[2, 16]`, `(f32[2], i64[s0])`, `Sym(s0)`."""

import re
from dataclasses import dataclass
from functools import lru_cache

_TENSOR = re.compile(r"(\w+)\[(.*)\]")
_SIZED = re.compile(r"(bf|f|c|u|i)(\d+)(?:\D\w*)?")


@dataclass(frozen=True, slots=True)
class TensorType:
    """One tensor; a dimension is an int, or the text of a symbolic one."""

    dtype: str
    shape: tuple[int | str, ...]

    @property
    def bytes(self) -> int | None:
        """Its size when dense, None where the shape or the dtype does not tell."""
        size = item_size(self.dtype)
        for dimension in self.shape:
            if size is None or isinstance(dimension, str):
                return None
            size *= dimension
        return size


def item_size(dtype: str) -> int | None:
    """Bytes of one element."""
    if dtype == "b8":
        return 1
    sized = _SIZED.fullmatch(dtype)
    return int(sized[2]) // 8 or None if sized else None


@lru_cache(maxsize=65536)
def tensor_of(text: str) -> TensorType | None:
    """The type of one tensor, None for anything else."""
    found = _TENSOR.fullmatch(text)
    if found is None or "[" in found[2]:
        return None
    return TensorType(found[1], tuple(map(_dimension, split_items(found[2]))))


@lru_cache(maxsize=65536)
def tensors_in(text: str) -> tuple[TensorType, ...] | None:
    """All tensors of a type with nested ones, None if part of it is not written out."""
    if not text:
        return None
    single = tensor_of(text)
    if single is not None:
        return (single,)
    if "..." in text or text[0] not in "([{" or text[-1] not in ")]}":
        return None if "..." in text else ()
    found: list[TensorType] = []
    for item in split_items(text[1:-1]):
        value = item.partition(": ")[2] if text[0] == "{" else item
        inner = tensors_in(value)
        if inner is None:
            return None
        found += inner
    return tuple(found)


@lru_cache(maxsize=65536)
def bytes_of(text: str) -> int | None:
    """The size of all tensors of a type, None if one is unknown or there is none."""
    tensors = tensors_in(text)
    if not tensors:
        return None
    total = 0
    for tensor in tensors:
        if tensor.bytes is None:
            return None
        total += tensor.bytes
    return total


def size_text(size: int) -> str:
    """`512 B`, `4 kB`, `3.1 MB`: three digits, powers of 1000."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.3g} {unit}"
    return f"{value:.0f} TB"


def split_items(text: str) -> list[str]:
    """Split at the commas that stand in no bracket; an empty last item counts for nothing."""
    items, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            items.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*items, last] if last else items


def _dimension(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
