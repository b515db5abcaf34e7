"""Say whether this Python can debug graphs: python probe.py VERSION ORIGIN [--torch].

VERSION is the extension's, ORIGIN says who chose this Python, --torch asks for torch too. Runs on
any Python 3, whatever is installed there. Prints one line of JSON: `usable`, and where there is
something to tell `text` and `remedy`, the `label` of a button and the `words` that the button has
this Python run.
"""

import json
import re
import sys
from importlib.util import find_spec

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = "2.12"


def examine(extension, origin, needs_torch):
    where = f"in {sys.executable} ({origin})"
    if sys.version_info < OLDEST_PYTHON:
        own, oldest = ("{}.{}".format(*each[:2]) for each in (sys.version_info, OLDEST_PYTHON))
        return problem(f"Python {own} {where} is too old: fxdap needs {oldest} or newer.")
    wanted = ["fxdap", "torch"] if needs_torch else ["fxdap"]
    found = {name: version_of(name) for name in wanted}
    missing = [name for name in wanted if found[name] is None]
    if missing:
        names = " and ".join(missing)
        verb = "are" if len(missing) > 1 else "is"
        return problem(f"{names} {verb} not installed {where}.", f"Install {names}", missing)
    if needs_torch and older(found["torch"], OLDEST_TORCH):
        text = f"torch {found['torch']} {where} is too old: fxdap needs {OLDEST_TORCH} or newer."
        return problem(text, "Update torch", ["--upgrade", "torch"])
    return compare(extension, found["fxdap"], where)


def compare(extension, package, where):
    """Both are released together; what differs in its first two numbers may not fit."""
    if older(package, extension):
        text = f"fxdap {package} {where} is older than this extension, {extension}."
        return problem(text, "Update fxdap", ["--upgrade", "fxdap"], usable=True)
    if older(extension, package):
        text = f"This extension, {extension}, is older than fxdap {package} {where}."
        remedy = {"label": "Update Extension", "words": ["-m", "fxdap", "vscode"]}
        return {"usable": True, "text": text, "remedy": remedy}
    return {"usable": True}


def problem(text, label="", packages=(), usable=False):
    finding = {"usable": usable, "text": text}
    if label:
        finding["remedy"] = {"label": label, "words": ["-m", "pip", "install", *packages]}
    return finding


def version_of(name):
    """None for what is not installed; the metadata tells without the seconds of an import."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return None
    try:
        from importlib.metadata import version

        return version(name)
    except Exception:
        return "unknown"


def older(version, than):
    """By the first two numbers; what is no version is neither older nor newer."""
    one, other = (re.match(r"(\d+)\.(\d+)", text) for text in (version, than))
    if one is None or other is None:
        return False
    return tuple(map(int, one.groups())) < tuple(map(int, other.groups()))


if __name__ == "__main__":
    version, origin, *options = sys.argv[1:]
    # Not this folder: what lies in it must not pass for a package.
    del sys.path[0]
    print("\n" + json.dumps(examine(version, origin, "--torch" in options)))
