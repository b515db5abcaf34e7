"""package.json of the extension against what Python reads: neither may know a key alone."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from fxdap.wire.configuration import AttachConfiguration, LaunchConfiguration

CHECKOUT = Path(__file__).parents[2]
MANIFEST = json.loads((CHECKOUT / "extension/package.json").read_text())
ATTRIBUTES = MANIFEST["contributes"]["debuggers"][0]["configurationAttributes"]
KINDS: dict[str, type[LaunchConfiguration] | type[AttachConfiguration]] = {
    "launch": LaunchConfiguration,
    "attach": AttachConfiguration,
}


def read_by_python(request):
    return {each.encode_name: each for each in msgspec.structs.fields(KINDS[request])}


@pytest.mark.parametrize("request_name", KINDS)
def test_the_editor_offers_exactly_the_keys_that_python_reads(request_name):
    # VS Code itself sets noDebug, for "Run Without Debugging".
    expected = read_by_python(request_name).keys() - {"noDebug"}

    assert ATTRIBUTES[request_name]["properties"].keys() == expected


@pytest.mark.parametrize("request_name", KINDS)
def test_the_editor_names_the_values_that_python_takes(request_name):
    kind = KINDS[request_name]
    schema = msgspec.json.schema(kind)["$defs"][kind.__name__]
    for key, expected in schema["properties"].items():
        if "enum" in expected:
            assert set(ATTRIBUTES[request_name]["properties"][key]["enum"]) == set(expected["enum"])


@pytest.mark.parametrize("request_name", KINDS)
def test_the_editor_shows_the_defaults_that_python_uses(request_name):
    properties = ATTRIBUTES[request_name]["properties"]
    for key, each in read_by_python(request_name).items():
        if isinstance(each.default, (bool, str)) and key != "noDebug":
            assert properties[key]["default"] == each.default, key


def test_extension_and_package_have_one_version():
    project = (CHECKOUT / "pyproject.toml").read_text()

    assert re.findall(r'^version = "(.+)"$', project, re.MULTILINE) == [MANIFEST["version"]]


def test_extension_and_package_need_the_same_python_and_torch():
    project = (CHECKOUT / "pyproject.toml").read_text()
    probe = (CHECKOUT / "extension/python/probe.py").read_text()

    oldest_torch = re.findall(r'OLDEST_TORCH = "(.+)"', probe)
    assert re.findall(r'"torch>=(.+)"', project) == oldest_torch
    oldest_python = re.findall(r"OLDEST_PYTHON = \((\d+), (\d+)\)", probe)
    assert re.findall(r'requires-python = ">=(\d+)\.(\d+)"', project) == oldest_python


@pytest.mark.parametrize("folder", ["extension", "tests/vscode"])
def test_lock_files_name_no_registry(folder):
    lock = json.loads((CHECKOUT / folder / "package-lock.json").read_text())

    assert [name for name, each in lock["packages"].items() if "resolved" in each] == []
