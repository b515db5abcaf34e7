"""Vision models of timm, which are made without torchvision's compiled operators.

timm asks for torchvision, of which it needs only names while it is imported. On PyPI there is
only a build for CUDA; beside a torch for CPUs it fails to import, and so does transformers, which
looks for it. So timm is installed alone, and stand-ins take torchvision's place meanwhile.
"""

import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from torch import nn

from tests.zoo.architecture import Architecture, Inputs, image

MISSING = "torchvision"


class _StandIn(type):
    """A class that has every attribute: another of its kind."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(name, (), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        mine = name.partition(".")[0] == MISSING
        return ModuleSpec(name, self, is_package=True) if mine else None

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = partial(getattr, _StandIn("any", (), {}))  # type: ignore[method-assign]


@contextmanager
def stand_ins() -> Iterator[None]:
    """Let `import torchvision` succeed for a while, if it is not there."""
    if importlib.util.find_spec(MISSING) is not None:
        yield
        return
    finder = _Finder()
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n.partition(".")[0] == MISSING]:
            del sys.modules[name]


def build(name: str, size: int, options: Inputs) -> tuple[nn.Module, Inputs]:
    with stand_ins():
        import timm
    model: nn.Module = timm.create_model(name, pretrained=False, num_classes=10, **options)
    return model, {"x": image(1, 3, size, size)}


def timm_model(name: str, size: int = 64, *, quick: bool = False, **options: Any) -> Architecture:
    return Architecture(f"timm/{name}", "vision", partial(build, name, size, options), quick=quick)


TIMM = [
    timm_model("test_resnet", quick=True),
    timm_model("test_efficientnet"),
    timm_model("test_convnext"),
    timm_model("test_byobnet"),
    timm_model("test_nfnet"),
    timm_model("test_mambaout"),
    timm_model("test_vit", 160),
    timm_model("mobilenetv3_small_050"),
    timm_model("regnetx_002"),
    timm_model("mixer_s16_224", 32, img_size=32),
    timm_model("poolformer_s12"),
    timm_model("edgenext_xx_small"),
    timm_model("ghostnet_050"),
]
