"""Functions and classes as a script can name them, with the imports that takes."""

import builtins
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from torch._ops import HigherOrderOperator
from torch.fx import Node

from fxdap.graphs.repro.errors import ReproError
from fxdap.view.node_text import target_names


class Imports:
    """The import lines of a script, and the folders it must look in for the user's modules."""

    def __init__(self) -> None:
        self.modules: set[str] = {"torch"}
        self.folders: set[str] = set()
        self.main_names: set[tuple[str, str]] = set()

    def name_of(self, node: Node) -> str:
        """The expression that gives a call_function node's target."""
        target: Any = node.target
        if isinstance(target, HigherOrderOperator):
            self.modules.add(type(target).__module__)
        qualified = f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', '')}"
        for name in (*target_names(node), qualified):
            if getattr(builtins, name, None) is target:
                return name
            module = _module_with(name, target)
            if module is not None:
                return self._from(module, name)
        raise ReproError(
            f"%{node.name} calls {target_names(node)[0]}, which no script can import; define it at "
            f"the top of a module"
        )

    def _from(self, module: str, name: str) -> str:
        if module == "__main__":
            stem = self._users(sys.modules["__main__"])
            self.modules.add(stem)
            return stem + name.removeprefix("__main__")
        if module.partition(".")[0] != "torch" or not _comes_with_torch(name):
            self.modules.add(module)
            self._users(sys.modules[module])
        return name

    def _users(self, module: ModuleType) -> str:
        """Note where a module of the user's is found; returns the name to import it by."""
        file = getattr(module, "__file__", None)
        if file is None or "site-packages" in file or module.__name__ in sys.stdlib_module_names:
            return module.__name__
        path = Path(file).resolve()
        depth = 0 if module.__name__ == "__main__" else module.__name__.count(".")
        if not module.__name__.startswith("torch."):
            self.folders.add(str(path.parents[depth]))
        return path.stem if module.__name__ == "__main__" else module.__name__

    def pickled(self, cls: type) -> None:
        """A pickle refers to this class by name; make it importable."""
        module = sys.modules.get(cls.__module__)
        if module is None or cls.__module__.partition(".")[0] in ("torch", "builtins"):
            return
        stem = self._users(module)
        if cls.__module__ == "__main__":
            self.main_names.add((stem, cls.__qualname__.partition(".")[0]))


def _module_with(name: str, target: Any) -> str | None:
    """The module in which a dotted name leads to `target`."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:end])
        value: Any = sys.modules.get(module)
        if value is None:
            continue
        for part in parts[end:]:
            value = getattr(value, part, None)
        if value is target:
            return module
    return None


def _comes_with_torch(name: str) -> bool:
    """Whether `import torch` alone makes the name usable."""
    public = ("torch.ops", "torch.nn", "torch.linalg", "torch.fft", "torch.special", "torch.Tensor")
    return name.count(".") == 1 or name.startswith((*public, "torch._C"))
