"""Values as Python expressions, exact to the bit."""

import base64
import io
import math
import zlib
from typing import Any

import torch
from torch.fx import GraphModule

from fxdap.graphs.repro.bodies import Bodies
from fxdap.graphs.repro.callables import Imports
from fxdap.graphs.repro.errors import ReproError
from fxdap.view.summary import type_name

SPELLED_OUT = 64
"""Elements up to which a tensor is written as numbers."""
LARGEST = 256 << 20
"""Bytes of data up to which a script holds them."""

HELPERS = {
    "tensor": '''
def tensor(dtype, size, stride, text):
    """A tensor from its elements' bytes: compressed, in base 85."""
    data = bytearray(zlib.decompress(base64.b85decode("".join(text.split()))))
    return torch.frombuffer(data, dtype=dtype).as_strided(size, stride)
''',
    "loaded": '''
def loaded(text):
    """Anything that torch.save saved."""
    data = zlib.decompress(base64.b85decode("".join(text.split())))
    return torch.load(io.BytesIO(data), weights_only=False)
''',
    "put": '''
def put(module, path, value):
    """Set a parameter, buffer or submodule by its dotted path."""
    *parents, name = path.split(".")
    for parent in parents:
        if not hasattr(module, parent):
            setattr(module, parent, torch.nn.Module())
        module = getattr(module, parent)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)
''',
}
_NEEDS = {"tensor": ("base64", "zlib"), "loaded": ("base64", "io", "zlib"), "put": ()}
_NUMBERS = {
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
}  # fmt: skip


class Literals:
    """Writes values; collects the imports, helper functions and bodies that they need."""

    def __init__(self) -> None:
        self.imports = Imports()
        self.helpers: set[str] = set()
        self.bodies = Bodies(self)
        self._bytes = 0

    def named(self, name: str, value: Any) -> str:
        """A value that a node of this name gave; graph modules become functions of that name."""
        if isinstance(value, GraphModule):
            return f"{self.bodies.builder(value, name)}()"
        return self.of(value)

    def of(self, value: Any) -> str:
        """An expression that gives an equal value."""
        if isinstance(value, GraphModule):
            return self.named("body", value)
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return repr(value.node.hint)
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if value is None or value is Ellipsis or isinstance(value, (bool, int, float, str, bytes)):
            return "..." if value is Ellipsis else repr(value)
        return self._container(value)

    def _container(self, value: Any) -> str:
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            items = ", ".join(map(self.of, value))
            return f"({items},)" if len(value) == 1 else f"({items})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.of, value))}]"
        if isinstance(value, dict) and all(isinstance(k, (str, int)) for k in value):
            return "{" + ", ".join(f"{k!r}: {self.of(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.of(value.start)}, {self.of(value.stop)}, {self.of(value.step)})"
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value)
        if isinstance(value, torch.device):
            return f'torch.device("{value}")'
        return self._saved(value)

    def _tensor(self, value: torch.Tensor) -> str:
        plain = type(value) in (torch.Tensor, torch.nn.Parameter)
        if not plain or value.layout is not torch.strided or value.is_quantized or value.is_nested:
            return self._saved(value)
        if value.device.type == "meta":
            return f'torch.empty_strided({tuple(value.shape)}, {value.stride()}, device="meta")'
        text = self._elements(value.detach().resolve_conj().resolve_neg())
        if value.device.type != "cpu":
            text += f'.to("{value.device}")'
        if isinstance(value, torch.nn.Parameter):
            return f"torch.nn.Parameter({text}, requires_grad={value.requires_grad})"
        if value.requires_grad:
            text += ".requires_grad_()" if value.is_leaf else ".requires_grad_().clone()"
        return text

    def _elements(self, value: torch.Tensor) -> str:
        size, stride = tuple(value.shape), value.stride()
        extent = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if value.numel() == 0:
            return f"torch.empty_strided({size}, {stride}, dtype={value.dtype})"
        if extent > 4 * value.numel():
            value = value.contiguous()
            return self._elements(value)
        flat = value.as_strided((extent,), (1,)).cpu()
        if extent <= SPELLED_OUT and value.dtype in _NUMBERS and bool(flat.isfinite().all()):
            if value.is_contiguous():
                return f"torch.tensor({value.tolist()!r}, dtype={value.dtype})"
            numbers = f"torch.tensor({flat.tolist()!r}, dtype={value.dtype})"
            return f"{numbers}.as_strided({size}, {stride})"
        data = flat.contiguous().view(torch.uint8).numpy().tobytes()
        self._need("tensor")
        return f"tensor({value.dtype}, {size}, {stride}, {self._text(data)})"

    def _saved(self, value: Any) -> str:
        buffer = io.BytesIO()
        try:
            torch.save(value, buffer)
        except Exception as error:
            raise ReproError(
                f"a value of type {type_name(value)} cannot be saved ({error}); choose a slice "
                f"that begins before it"
            ) from error
        modules = value.modules() if isinstance(value, torch.nn.Module) else [value]
        for each in modules:
            self.imports.pickled(type(each))
        self._need("loaded")
        return f"loaded({self._text(buffer.getvalue())})"

    def _text(self, data: bytes) -> str:
        self._bytes += len(data)
        if self._bytes > LARGEST:
            raise ReproError(
                f"the inputs take more than {LARGEST >> 20} MB; choose a slice with smaller ones"
            )
        text = base64.b85encode(zlib.compress(data, 6)).decode()
        lines = [text[i : i + 88] for i in range(0, len(text), 88)]
        return f'"{text}"' if len(lines) == 1 else '"""\n' + "\n".join(lines) + '\n"""'

    def _need(self, helper: str) -> None:
        self.helpers.add(helper)
        self.imports.modules.update(_NEEDS[helper])

    def need_put(self) -> str:
        """The helper that fills a module."""
        self._need("put")
        return "put"
