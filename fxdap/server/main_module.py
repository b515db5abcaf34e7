"""The user's program as `__main__`, as Python itself runs it.

`runpy.run_path` puts another `__main__` back when the script ends, while its threads and atexit
functions still look themselves up there.
"""

import os
import runpy
import sys
import zipfile
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType


def run_script(path: str, arguments: Sequence[str]) -> None:
    """Like `python PATH ARGUMENTS`."""
    sys.argv = [path, *arguments]
    file = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(file))
    if zipfile.is_zipfile(file) or file.endswith(".pyc"):
        runpy.run_path(path, run_name="__main__")
        return
    loader = SourceFileLoader("__main__", file)
    module = _new_main()
    module.__file__, module.__loader__ = file, loader
    exec(loader.source_to_code(loader.get_data(file), file), module.__dict__)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """Like `python -m NAME ARGUMENTS`."""
    sys.argv = ["-m", *arguments]
    sys.path.insert(0, os.getcwd())
    _new_main()
    # What `python -m` itself calls: the public run_module undoes `__main__` at its end.
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _new_main() -> ModuleType:
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    return module
