"""Turning `file.py:attr`, `pkg.mod:attr` or `model.pt2` into a Python object."""

import importlib
import importlib.util
import inspect
import os
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from fxdap.graphs.errors import TargetError


def load_module(place: str, key: str, spec: str) -> ModuleType:
    """Import a Python file or a module by name. The user's own errors pass through.

    A file is imported under its stem with its folder on `sys.path`, as a script would see it.
    """
    if place.endswith(".py") or os.sep in place:
        return _load_file(Path(place), key, spec)
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is not None and (place == error.name or place.startswith(f"{error.name}.")):
            raise TargetError(
                key,
                spec,
                f"no module named {error.name!r}",
                f"Write file.py:attr or package.module:attr; looked in {os.getcwd()} and sys.path",
            ) from None
        raise


def _load_file(path: Path, key: str, spec: str) -> ModuleType:
    if not path.is_file():
        raise TargetError(key, spec, f"no file {str(path.absolute())!r}", _similar_files(path))
    path = path.resolve()
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise TargetError(key, spec, "not a Python file", "Name a .py file")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _similar_files(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix == path.suffix]
    except OSError:
        return f"There is no folder {str(path.parent)!r} either"
    close = get_close_matches(path.name, names, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Relative paths start at {os.getcwd()}"


def split_spec(spec: str, key: str) -> tuple[str, str]:
    """Split `place:attr`; a Windows drive letter is part of the place."""
    place, colon, attribute = spec.rpartition(":")
    if not colon or not place or not attribute or os.sep in attribute or "/" in attribute:
        raise TargetError(
            key, spec, "names no attribute", "Write file.py:attr, package.module:attr or model.pt2"
        )
    return place, attribute


def load_attribute(spec: str, key: str) -> tuple[Any, ModuleType]:
    """Return the object a spec names and the module it was found in."""
    place, attribute = split_spec(spec, key)
    module = load_module(place, key, spec)
    value: Any = module
    for atom in attribute.split("."):
        if not hasattr(value, atom):
            raise TargetError(key, spec, f"{place} has no {attribute!r}", _candidates(module, atom))
        value = getattr(value, atom)
    return value, module


def _candidates(module: ModuleType, atom: str) -> str:
    close = get_close_matches(atom, dir(module), n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    mine = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return f"It defines: {', '.join(mine[:12]) or 'nothing'}"


def is_factory(value: Any) -> bool:
    """Whether a value is a function or class to be called without arguments."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )
