"""What the extension's probe says of an interpreter, as users read it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).parents[2] / "extension/python/probe.py"
WHERE = f"in {sys.executable} (a test)"


@pytest.fixture
def probe(tmp_path):
    """Examines this Python with no packages but empty ones of the versions given."""

    def examine(*options, extension="1.2.3", **packages):
        for name, version in packages.items():
            info = tmp_path / f"{name}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            )
            (tmp_path / f"{name}.py").touch()
        command = [sys.executable, "-S", str(PROBE), extension, "a test", *options]
        env = {"PYTHONPATH": str(tmp_path)}
        answer = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return json.loads(answer.stdout)

    return examine


def pip(label, *packages):
    return {"label": label, "words": ["-m", "pip", "install", *packages]}


def test_nothing_is_said_of_a_python_that_has_all(probe):
    assert probe("--torch", fxdap="1.2.9", torch="2.13.0+cpu") == {"usable": True}


def test_what_is_missing_is_named_and_can_be_installed(probe):
    assert probe() == {
        "usable": False,
        "text": f"fxdap is not installed {WHERE}.",
        "remedy": pip("Install fxdap", "fxdap"),
    }
    assert probe("--torch") == {
        "usable": False,
        "text": f"fxdap and torch are not installed {WHERE}.",
        "remedy": pip("Install fxdap and torch", "fxdap", "torch"),
    }


def test_a_torch_that_is_too_old_can_be_updated(probe):
    assert probe("--torch", fxdap="1.2.3", torch="2.11.1") == {
        "usable": False,
        "text": f"torch 2.11.1 {WHERE} is too old: fxdap needs 2.12 or newer.",
        "remedy": pip("Update torch", "--upgrade", "torch"),
    }


def test_a_package_older_than_the_extension_can_be_updated(probe):
    assert probe(fxdap="1.1.9") == {
        "usable": True,
        "text": f"fxdap 1.1.9 {WHERE} is older than this extension, 1.2.3.",
        "remedy": pip("Update fxdap", "--upgrade", "fxdap"),
    }


def test_an_extension_older_than_the_package_can_be_updated(probe):
    assert probe(fxdap="1.10.0") == {
        "usable": True,
        "text": f"This extension, 1.2.3, is older than fxdap 1.10.0 {WHERE}.",
        "remedy": {"label": "Update Extension", "words": ["-m", "fxdap", "vscode"]},
    }


def test_a_version_that_is_none_is_taken_as_it_is(probe):
    assert probe(fxdap="unknown") == {"usable": True}
